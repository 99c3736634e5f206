// The same stories once more, on io_uring, where this machine has it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseEngine } from '../net.ts';

const chosen = chooseEngine('uring');

if ('impossible' in chosen) test('the gateway on io_uring', { skip: chosen.impossible }, () => {});
else {
  const { name } = chosen.engine;
  test('the engine that was asked for is the one that runs', () => assert.equal(name, 'uring'));
  await chosen.engine.close();
  process.env['PLIMSOLL_TEST_ENGINE'] = 'uring';
  await import('./request.test.ts');
  await import('./ways-out.test.ts');
  await import('./drain.test.ts');
  await import('./tls.test.ts');
  await import('./http2.test.ts');
  await import('./proxy-protocol.test.ts');
  await import('./trailers.test.ts');
  await import('./reload.test.ts');
  await import('./slow-clients.test.ts');
}
