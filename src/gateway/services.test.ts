// Several services behind one gateway: who gets which request, and what changes when the endpoints of one of them do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGatewayConfig } from './config.ts';
import { nodeEngine } from '../net.ts';
import { Services } from './services.ts';
import { atOnce } from './slices.ts';
import { get, httpEndpoint, type HttpEndpoint, stand, type Stand } from './stand/stand.ts';

const entry = ({ id, host, port }: HttpEndpoint) => ({ id, host, port });

/** Who answered, or the status when it is not 200. */
async function asked(gateway: Stand, host: string, path: string): Promise<string> {
  const answer = await get(gateway.port, path, { headers: { host } });
  return answer.status === 200 ? String(answer.headers['x-plimsoll-replica']) : String(answer.status);
}

test('a request goes to the service of its host and the longest path', async () => {
  await using shop = await httpEndpoint('shop');
  await using api = await httpEndpoint('api');
  await using other = await httpEndpoint('other');
  await using gateway = await stand([], {
    services: [
      { name: 'shop', endpoints: [entry(shop)] },
      { name: 'api', policy: 'least-request', endpoints: [entry(api)] },
      { name: 'other', endpoints: [entry(other)] },
    ],
    routes: [
      { host: 'Shop.example', service: 'shop' },
      { host: 'shop.example', path: '/api', service: 'api' },
      { path: '/any', service: 'other' },
    ],
  });
  assert.equal((await get(gateway.adminPort, '/readyz')).status, 200);
  assert.equal(await asked(gateway, 'shop.example', '/'), 'shop');
  assert.equal(await asked(gateway, 'SHOP.example:8080', '/cart'), 'shop');
  for (const path of ['/api', '/api/cart?x=1', '/api?x=1'])
    assert.equal(await asked(gateway, 'shop.example', path), 'api');
  assert.equal(await asked(gateway, 'shop.example', '/apiary'), 'shop', 'a path ends where one of its segments does');
  assert.equal(await asked(gateway, 'elsewhere.example', '/any/thing'), 'other');
  assert.equal(await asked(gateway, 'elsewhere.example', '/'), '404', 'no service is for it');
});

test('what no route is for goes to the endpoints beside the services, where there are some', async () => {
  await using rest = await httpEndpoint('rest');
  await using shop = await httpEndpoint('shop');
  await using gateway = await stand([rest], {
    services: [{ name: 'shop', endpoints: [entry(shop)] }],
    routes: [{ host: 'shop.example', service: 'shop' }],
  });
  assert.equal(await asked(gateway, 'shop.example', '/'), 'shop');
  assert.equal(await asked(gateway, 'elsewhere.example', '/'), 'rest');
});

test("the endpoints of one service change by the admin API, and nobody else's", async () => {
  await using one = await httpEndpoint('one');
  await using two = await httpEndpoint('two');
  await using next = await httpEndpoint('next');
  await using gateway = await stand([], {
    services: [
      { name: 'a', endpoints: [entry(one)] },
      { name: 'b', endpoints: [entry(two)] },
    ],
    routes: [
      { host: 'a.example', service: 'a' },
      { host: 'b.example', service: 'b' },
    ],
  });
  const post = (name: string, body: unknown) =>
    get(gateway.adminPort, `/services/${name}/endpoints`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  assert.equal((await post('a', { endpoints: [entry(next)] })).status, 200);
  assert.equal(await asked(gateway, 'a.example', '/'), 'next');
  assert.equal(await asked(gateway, 'b.example', '/'), 'two');
  assert.equal((await post('nobody', { endpoints: [] })).status, 404);
  assert.match((await post('a', { endpoints: [{ id: 'x' }] })).body, /host/);
  assert.equal((await post('a', { endpoints: [] })).status, 200);
  assert.equal(await asked(gateway, 'a.example', '/'), '503', 'a service without endpoints');
  const page = await get(gateway.adminPort, '/services');
  assert.deepEqual(JSON.parse(page.body), {
    services: [
      { name: 'a', endpoints: 0, healthy: 0 },
      { name: 'b', endpoints: 1, healthy: 1 },
    ],
  });
  const metrics = await get(gateway.adminPort, '/metrics');
  assert.match(metrics.body, /plimsoll_gateway_service_requests_total\{service="b"\} 1\n/);
});

test('a route to nowhere and a name twice are mistakes with a place', () => {
  const endpoints = [{ id: 'x', host: '10.0.0.1', port: 80 }];
  const text = JSON.stringify({
    listen: { host: '127.0.0.1', port: 0 },
    services: [
      { name: 'a', endpoints },
      { name: 'a', endpoints },
    ],
    routes: [{ service: 'b' }, { host: 'x:80', service: 'a' }],
  });
  const first = parseGatewayConfig(text, 'g.json');
  assert.ok(!first.ok);
  assert.match(first.problems.map(({ path }) => path).join(), /routes\.1\.host/);
  const second = parseGatewayConfig(text.replace('x:80', 'x'), 'g.json');
  assert.ok(!second.ok);
  assert.deepEqual(
    second.problems.map(({ path }) => path),
    ['services.1.name', 'routes.0.service'],
  );
});

test('a key that stands twice is a mistake in JSON too, though its reader would take the last without a word', () => {
  const text = '{"listen": {"host": "127.0.0.1", "port": 0}, "endpoints": [], "retries": 1, "retries": 2}';
  const parsed = parseGatewayConfig(text, 'g.json');
  assert.ok(!parsed.ok);
  assert.match(parsed.problems[0]?.message ?? '', /unique/);
  assert.ok(parseGatewayConfig(text.replace(', "retries": 2', ''), 'g.json').ok);
  assert.ok(
    parseGatewayConfig(text.replace('"retries": 2', '"access_log": "a\\"b: c"'), 'g.json').ok,
    'a colon in a text',
  );
});

test('each service is judged by itself: its checks, and who among its own answers worse', async () => {
  let well = true;
  await using one = await httpEndpoint('api-1', (request, response) => {
    response.writeHead(request.url === '/healthz' && !well ? 503 : 200).end();
  });
  await using two = await httpEndpoint('api-2', (request, response) => {
    response.writeHead(request.url === '/healthz' ? 200 : 500).end();
  });
  await using three = await httpEndpoint('api-3');
  await using gateway = await stand([], {
    health: { path: '/healthz', interval_ns: 5e6, timeout_ns: 2e9, fall: 1, rise: 1 },
    outlier: { consecutive: 2, ejection_base_ns: 60e9 },
    services: [
      { name: 'shop', endpoints: [entry(one)] },
      { name: 'mail', endpoints: [entry(two), entry(three)] },
    ],
    routes: [
      { path: '/shop', service: 'shop' },
      { path: '/mail', service: 'mail' },
    ],
  });
  assert.equal((await get(gateway.port, '/shop')).status, 200);
  well = false;
  while ((await get(gateway.port, '/shop')).status !== 503);
  for (let count = 0; count < 6; count++) await get(gateway.port, '/mail');
  assert.equal((await get(gateway.port, '/mail')).headers['x-plimsoll-replica'], 'api-3');
  const page = await get(gateway.adminPort, '/services/mail');
  assert.match(page.body, /"id":"api-2"[^}]*"ejected":true/);
  // Whoever joins is checked, too.
  well = true;
  while ((await get(gateway.port, '/shop')).status !== 200);
  await get(gateway.adminPort, '/services/shop/endpoints', {
    method: 'POST',
    body: JSON.stringify({ endpoints: [entry(one), { id: 'api-9', host: '127.0.0.1', port: 1 }] }),
  });
  for (;;) {
    const { body } = await get(gateway.adminPort, '/services/shop');
    if (/"id":"api-9"[^}]*"passes_checks":false/.test(body)) break;
  }
});

test('an operator drains and weighs one endpoint of a service, and the page of counts says why it gets nothing', async () => {
  await using one = await httpEndpoint('api-1');
  await using two = await httpEndpoint('api-2');
  await using gateway = await stand([], {
    services: [{ name: 'shop', endpoints: [entry(one), entry(two)] }],
    routes: [{ service: 'shop' }],
  });
  const post = (path: string, body: object) =>
    get(gateway.adminPort, path, { method: 'POST', body: JSON.stringify(body) });
  const drained = await post('/services/shop/endpoints/api-1/order', { order: 'drain' });
  assert.match(drained.body, /"excluded_by":"drained"/);
  for (let count = 0; count < 4; count++) {
    assert.equal((await get(gateway.port)).headers['x-plimsoll-replica'], 'api-2');
  }
  assert.match(gateway.gateway.metrics(), /^plimsoll_gateway_excluded\{reason="drained"\} 1$/m);
  await post('/services/shop/endpoints/api-1/order', { order: null });
  assert.equal((await post('/services/shop/endpoints/api-2/weight', { weight: 0 })).status, 200);
  for (let count = 0; count < 4; count++) {
    assert.equal((await get(gateway.port)).headers['x-plimsoll-replica'], 'api-1');
  }
  assert.equal((await post('/services/shop/endpoints/api-2/weight', { weight: 'much' })).status, 400);
  assert.equal((await post('/services/mail/endpoints/api-2/weight', { weight: 1 })).status, 404);
});

test('a reload goes through services one by one, and leaves alone those that stay as they are', () => {
  const configOf = (port: number, third: string) => {
    const services = ['one', 'two', third].map((name) => ({
      name,
      endpoints: [{ id: `${name}-1`, host: '127.0.0.1', port: name === 'two' ? port : 1000 }],
    }));
    const routes = services.map(({ name }) => ({ path: `/${name}`, service: name }));
    const parsed = parseGatewayConfig(
      JSON.stringify({ listen: { host: '127.0.0.1', port: 1 }, services, routes }),
      'x',
    );
    assert.ok(parsed.ok);
    return parsed.config;
  };
  const services = new Services(nodeEngine());
  atOnce(services.reconfigure(configOf(1000, 'three')));
  const versions = () => services.names().map((name) => services.named(name)?.version);
  const [one, two] = versions();
  const steps = services.reconfigure(configOf(2000, 'four'));
  steps.next();
  steps.next();
  assert.equal(services.named('two')?.endpoints[0]?.endpoint.port, 2000, 'the second has been gone through');
  steps.next();
  assert.deepEqual(services.names(), ['one', 'two', 'three'], 'until the end those that were asked are asked');
  assert.equal(steps.next().done, true);
  assert.deepEqual(services.names(), ['one', 'two', 'four']);
  assert.equal(versions()[0], one, 'nothing was built anew');
  assert.notEqual(versions()[1], two);
  services.end();
});
