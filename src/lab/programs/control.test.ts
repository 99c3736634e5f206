import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOrder } from './control.ts';

test('each order is read', () => {
  const target = { id: 'store-1', host: '127.0.0.1', port: 4000 };
  assert.deepEqual(parseOrder('{"slow":1.3}'), { kind: 'slow', factor: 1.3 });
  assert.deepEqual(parseOrder('{"workers":8}'), { kind: 'workers', workers: 8 });
  assert.deepEqual(parseOrder('{"burn":0}'), { kind: 'burn', share: 0, forMs: undefined });
  assert.deepEqual(parseOrder('{"burn":0.5,"for_ms":2000}'), { kind: 'burn', share: 0.5, forMs: 2000 });
  assert.deepEqual(parseOrder('{"pause":200}'), { kind: 'pause', ms: 200 });
  assert.deepEqual(parseOrder(JSON.stringify({ targets: [target], of: 'store' })), {
    kind: 'targets',
    of: 'store',
    targets: [target],
  });
});

test('what is no order is answered with what would be one', () => {
  for (const [text, says] of [
    ['slow', 'not JSON'],
    ['7', 'not a JSON object'],
    ['{}', 'one of slow, workers, burn, pause, fail, targets'],
    ['{"slow":0}', 'slow: a number above 0'],
    ['{"slow":"2"}', 'slow: a number above 0'],
    ['{"workers":0}', 'workers: a whole number from 1'],
    ['{"workers":1.5}', 'workers: a whole number from 1'],
    ['{"burn":1}', 'burn: a share from 0 to 0.99'],
    ['{"burn":-0.1}', 'burn: a share from 0 to 0.99'],
    ['{"burn":0.5,"for_ms":0}', 'for_ms: a number above 0'],
    ['{"pause":60001}', 'pause: milliseconds, above 0, at most 60000'],
    ['{"targets":[],"of":"store"}', 'targets: a list of {id, host, port}; of: a name'],
  ] as const) {
    assert.equal(parseOrder(text), says, text);
  }
});
