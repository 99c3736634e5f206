import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { dice, ms } from '../../base.ts';
import { retryPolicyOf } from '../../policy.ts';
import { Caller } from './caller.ts';
import type { CallConfiguration } from './replica-configuration.ts';

/** A service that answers 500 and counts who asks; closed when the test ends. */
async function failingService(context: TestContext): Promise<{ readonly port: number; readonly asked: number[] }> {
  const asked: number[] = [];
  const server = createServer((_, response) => {
    asked.push(performance.now());
    response.writeHead(500).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, asked };
}

const callTo = (port: number, more: Partial<CallConfiguration>): CallConfiguration => ({
  to: 'store',
  retries: 3,
  choice: 'round-robin',
  targets: [{ id: 'store-1', host: '127.0.0.1', port }],
  ...more,
});

test('without a wait a call tries again at once, as often as it may', async (context) => {
  const { port, asked } = await failingService(context);
  assert.equal(await new Caller(callTo(port, {}), 1, 'api-1/calls/store').call(undefined), 'failed');
  assert.equal(asked.length, 4);
});

test('before each further try it waits as long as its stream of chance says', async (context) => {
  const { port, asked } = await failingService(context);
  await new Caller(callTo(port, { back_off_ns: 40e6 }), 1, 'api-1/calls/store').call(undefined);
  const { wait } = retryPolicyOf({ retries: 3, backOff: ms(40) }, dice(1, 'api-1/calls/store/retries'));
  assert.equal(asked.length, 4);
  for (const attempt of [1, 2, 3]) {
    const waited = (asked[attempt] ?? 0) - (asked[attempt - 1] ?? 0);
    // Timers cut a millisecond off at most; a busy machine adds any number.
    assert.ok(waited > wait(attempt) / 1e6 - 1.1, `${waited} ms before try ${attempt}`);
  }
});

test('a budget ends the retries of all calls together: a tenth of the calls, and ten to begin with', async (context) => {
  const { port, asked } = await failingService(context);
  const caller = new Caller(callTo(port, { budget: 0.1 }), 1, 'api-1/calls/store');
  for (let calls = 0; calls < 50; calls++) await caller.call(undefined);
  assert.equal(asked.length, 50 + 15);
});
