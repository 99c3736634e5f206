// One load from many machines, as the program is told.

import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { plimsoll, startPlimsoll } from './testing/run-program.ts';

const token = ['--token', 'a token for tests'];

test('an agent lends two threads, and the load from there is as one', { timeout: 60_000 }, async () => {
  let served = 0;
  const server = http.createServer((_request, response) => {
    served += 1;
    response.end('hello');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const agent = startPlimsoll(['load', '--worker-listen', '127.0.0.1:0', '--threads', '2', ...token]);
  try {
    const line = await new Promise<string>((resolve) =>
      agent.child.stdout?.once('data', (bytes: Buffer) => resolve(String(bytes))),
    );
    const port = /"port":(\d+)/.exec(line)?.[1] ?? '';
    const url = `http://127.0.0.1:${address.port}/`;
    const on = ['--on', `127.0.0.1:${port}`, ...token];
    const { code, stdout, stderr } = await plimsoll('load', url, '-d', '1s', '-R', '100', '--json', ...on);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /2 threads and 10 connections, .*; on 127\.0\.0\.1:\d+: 2 threads, clock known to ± /);
    const answered = Number(/"answered": (\d+)/.exec(stdout)?.[1]);
    assert.ok(answered > 50, `${answered} answered`);
    // The look before the run connects and asks nothing.
    assert.equal(answered, served);
  } finally {
    agent.child.kill('SIGTERM');
    server.closeAllConnections();
    server.close();
  }
  assert.equal((await agent.ended).code, 0);
});

test('what is wrong with an agent, or the way to one, is one clear error', { timeout: 60_000 }, async () => {
  const wrongs = [
    [['load', '--worker-listen', '127.0.0.1:0', '--token', 'short'], /fewer than eight characters, expected one in/],
    [['load', '--worker-listen', '7000', ...token], /--worker-listen: found "7000", expected HOST:PORT/],
    [['load', 'http://127.0.0.1:9/', '--worker-listen', '127.0.0.1:0', ...token], /whoever says --on/],
    [['load', 'http://127.0.0.1:9/', '--anyway', '--on', '127.0.0.1:9', ...token], /--on 127\.0\.0\.1:9: ECONNREFUSED/],
  ] as const;
  const ends = await Promise.all(wrongs.map(([args]) => plimsoll(...args)));
  ends.forEach(({ code, stderr }, index) => {
    assert.equal(code, 2, stderr);
    assert.match(stderr, wrongs[index]?.[1] ?? /never/);
  });
});
