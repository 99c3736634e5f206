import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dossierOf,
  expected,
  messageLines,
  requestLines,
  sampleLines,
  seriesLines,
  settingLines,
} from '../../testing/facts.ts';
import { samples } from '../../testing/samples.ts';

test('workers: what each has done, and whether it is busy', () => {
  const dossier = dossierOf(samples['statistics of workers'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [workers] workers.processes = 2 :?
      [workers] workers.count = 2 :?
    `),
  );
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      listen_queue 3
      listen_queue_errors +0
      uwsgi_load 3
      worker_requests{worker=1} +4790
      worker_exceptions{worker=1} +2
      worker_tx_bytes{worker=1} +218633
      worker_busy{worker=1,status=busy} 1
      worker_avg_rt{worker=1} 5000
      worker_requests{worker=2} +27883
      worker_exceptions{worker=2} +0
      worker_tx_bytes{worker=2} +223331
      worker_busy{worker=2,status=idle} 0
      worker_avg_rt{worker=2} 13000
    `),
  );
});

test('a drawn table gives a sample for each number; sessions are counted by state', () => {
  const dossier = dossierOf(samples['table drawn with bars'] ?? '');
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      pgbouncer_cl_active{database=shop,user=app} 20
      pgbouncer_cl_waiting{database=shop,user=app} 73
      pgbouncer_sv_active{database=shop,user=app} 20
      pgbouncer_maxwait{database=shop,user=app} 4
      database_sessions{state=active,wait_event=ClientRead} 2 #1
      database_sessions{state=idle,wait_event=} 1 #1
    `),
  );
});

test('a thread dump: threads by pool, state and place, and a message where most of a pool wait at one', () => {
  const dossier = dossierOf(samples['thread dump'] ?? '');
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      threads{pool=http-nio-8080-exec-#,state=RUNNABLE,top=java.net.SocketInputStream.socketRead0,own=com.example.Store.find} 5
      threads{pool=http-nio-8080-exec-#,state=WAITING,top=jdk.internal.misc.Unsafe.park,own=} 1
    `),
  );
  assert.deepEqual(
    messageLines(dossier),
    expected(`
      07:00:00.000 threads-wait-for-network http-nio-8080-exec-#
    `),
  );
});

test('pauses of a collector, and a message for long ones', () => {
  const dossier = dossierOf(samples['garbage collector log'] ?? '');
  assert.deepEqual(
    seriesLines(dossier),
    expected(`
      gc_pause_seconds{kind=young} 07:00:01.120 0.003512 0.0054
      gc_pause_seconds{kind=full} 07:00:02.120 0.3512
    `),
  );
  assert.deepEqual(
    messageLines(dossier),
    expected(`
      07:00:02.120 garbage-collection full
      - garbage-collection full
    `),
  );
});

test('a program that listens without a backlog has Node’s', () => {
  const dossier = dossierOf(samples['program source'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [file] pool.size = 10 :1
      [file] pool.acquire-timeout = 2 :1
      [file] listen.backlog = 511 (implied)
      [file] downstream.keepalive-timeout = 5 (implied)
    `),
  );
});

test('MySQL: a statement is a request, and its wait for locks is a queue', () => {
  const dossier = dossierOf(samples['MySQL slow statements'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:00.100 SELECT * FROM orders WHERE id = ?; seconds=21.9 queue=20 for=10.0.0.11
    `),
  );
});
