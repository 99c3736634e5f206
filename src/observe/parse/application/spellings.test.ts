// The same facts as other programs write them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dossierOf, messageLines, sampleLines, settingLines } from '../../testing/facts.ts';

test('goroutines and Python’s threads are counted like Java’s', () => {
  const goroutines = Array.from(
    { length: 5 },
    (_, index) => `goroutine ${index + 7} [IO wait, 2 minutes]:
internal/poll.runtime_pollWait(0x7f, 0x72)
	/usr/local/go/src/runtime/netpoll.go:343 +0x85
main.(*Store).find(0xc000)
	/app/store.go:40 +0x1c
`,
  ).join('\n');
  const dossier = dossierOf(goroutines);
  assert.deepEqual(sampleLines(dossier), [
    'threads{pool=goroutines,state=IO wait,top=internal/poll.runtime_pollWait,own=main.(*Store).find} 5',
  ]);
  assert.deepEqual(messageLines(dossier), ['- threads-wait-for-network goroutines']);
  const python = `Thread 12 (active): "MainThread"
    recv_into (socket.py:705)
    find (store.py:40)
Thread 13 (idle): "worker-1"
    wait (threading.py:302)
`;
  assert.deepEqual(sampleLines(dossierOf(python)), [
    'threads{pool=MainThread,state=active,top=recv_into (socket.py),own=recv_into (socket.py)} 1',
    'threads{pool=worker-#,state=idle,top=wait (threading.py),own=wait (threading.py)} 1',
  ]);
});

test('Puma: threads that are busy are those that cannot be taken', () => {
  const text = `{"workers": 2, "worker_status": [
    {"pid": 1, "index": 0, "last_status": {"backlog": 3, "running": 5, "pool_capacity": 0, "max_threads": 5}},
    {"pid": 2, "index": 1, "last_status": {"backlog": 0, "running": 5, "pool_capacity": 4, "max_threads": 5}}]}`;
  const dossier = dossierOf(text);
  assert.deepEqual(settingLines(dossier), ['[workers] workers.processes = 2 :?', '[workers] workers.count = 10 :?']);
  assert.deepEqual(
    sampleLines(dossier).filter((line) => /queue|busy/.test(line)),
    [
      'worker_queue{worker=0} 3',
      'worker_threads_busy{worker=0} 5',
      'worker_queue{worker=1} 0',
      'worker_threads_busy{worker=1} 1',
    ],
  );
});

test('PHP-FPM', () => {
  const text = `{"pool":"www","accepted conn":100,"listen queue":7,"listen queue len":128,"idle processes":0,"active processes":4,"total processes":4,"max children reached":2}`;
  assert.deepEqual(sampleLines(dossierOf(text)), [
    'php_fpm_accepted_total{pool=www} +100',
    'listen_queue{pool=www} 7',
    'listen_queue_max{pool=www} 128',
    'php_fpm_processes_idle{pool=www} 0',
    'php_fpm_processes_active{pool=www} 4',
    'php_fpm_processes{pool=www} 4',
    'php_fpm_max_children_reached_total{pool=www} +2',
  ]);
});

test('programs in Node and Go say how they listen and how long they wait', () => {
  const node = `const server = http.createServer(app);
server.keepAliveTimeout = 65_000;
server.listen(8080, '0.0.0.0', 1024, () => {});
`;
  assert.deepEqual(settingLines(dossierOf(node)), [
    '[file] downstream.keepalive-timeout = 65 :2',
    '[file] listen.backlog = 1024 :3',
  ]);
  const go = `package main
func main() {
	db.SetMaxOpenConns(20)
	client := &http.Client{Timeout: 3 * time.Second}
	server := &http.Server{Addr: ":8080", IdleTimeout: 2 * time.Minute}
	http.ListenAndServe(":8080", mux)
}
`;
  assert.deepEqual(settingLines(dossierOf(go)), [
    '[file] pool.size = 20 :3',
    '[file] dependency.timeout = 3 :4',
    '[file] downstream.idle-timeout = 120 :5',
  ]);
});

test('a table as MySQL’s client draws it, and the size of a pool', () => {
  const text = `+------+-----------+-------------+
| name | pool_size | total_count |
+------+-----------+-------------+
| shop |        20 |           7 |
+------+-----------+-------------+
1 row in set (0.00 sec)
`;
  const dossier = dossierOf(text);
  assert.deepEqual(sampleLines(dossier), ['pool_size{name=shop} 20', 'total_count{name=shop} +7']);
  assert.deepEqual(settingLines(dossier), ['[pool shop] pool.size = 20 :4']);
});

test('who waited in vain for a connection tells how long the pool lets one wait', () => {
  const text = `2026-04-02 07:00:01.123 ERROR [http-1] Exceptions - HikariPool-1 - Connection is not available, request timed out after 30000ms.
2026-04-02 07:00:02.123 ERROR [http-2] Exceptions - HikariPool-1 - Connection is not available, request timed out after 30001ms.
`;
  assert.deepEqual(settingLines(dossierOf(text)), ['[pool HikariPool-1] pool.acquire-timeout = 30 :1']);
});
