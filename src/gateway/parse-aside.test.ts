// A configuration that is read on a thread of its own is the same as one that is not, and so are the problems with it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGatewayConfig } from './config.ts';
import { parseAside } from './parse-aside.ts';

/** So many services of ten endpoints; a hundred and fifty of them are a long text, and come in three slices and a part. */
function textOf(services: number, extra: object = {}): string {
  return JSON.stringify({
    listen: { host: '127.0.0.1', port: 8080 },
    services: Array.from({ length: services }, (_, number) => ({
      name: `service-${number}`,
      endpoints: Array.from({ length: 10 }, (__, index) => ({
        id: `service-${number}-replica-${index}`,
        host: `replica-${index}.service-${number}.long-name-of-a-domain.example`,
        port: 8080,
      })),
    })),
    routes: Array.from({ length: services }, (_, number) => ({
      host: `${number}.example`,
      service: `service-${number}`,
    })),
    ...extra,
  });
}

for (const services of [1, 160, 200]) {
  test(`a configuration of ${services} services is read as it is on this thread`, async () => {
    const text = textOf(services);
    assert.deepEqual(await parseAside(text, 'gateway.json'), parseGatewayConfig(text, 'gateway.json'));
  });
}

test('problems of a long configuration are told with their places', async () => {
  const text = textOf(160, { policy: 'best' });
  const parsed = await parseAside(text, 'gateway.json');
  assert.equal(parsed.ok, false);
  assert.deepEqual(parsed, parseGatewayConfig(text, 'gateway.json'));
});
