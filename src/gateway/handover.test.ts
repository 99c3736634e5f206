// One process follows another at the same addresses, on both engines, with a crowd at the door the whole time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseEngine } from '../net.ts';
import { gatewayChild } from './stand/child.ts';
import { crowd, numbered } from './stand/ledger.ts';
import { gate, get, httpEndpoint } from './stand/stand.ts';

const listen = { host: '127.0.0.1', port: 0 };
const uring = chooseEngine('uring');
const noUring = 'impossible' in uring ? uring.impossible : false;
if ('engine' in uring) await uring.engine.close();

for (const engine of ['node', 'uring'] as const) {
  const skip = engine === 'uring' ? noUring : false;
  test(`a new process takes over under load on ${engine}, three times, and no request fails`, { skip }, async () => {
    await using api = await httpEndpoint('api-1', numbered);
    const { id, host, port } = api;
    const config = { listen, admin: listen, engine, endpoints: [{ id, host, port }] };
    await using child = await gatewayChild(config);
    const place = await child.ready();
    using users = crowd(() => place.port);
    let { pid } = place;
    for (let turn = 0; turn < 3; turn++) {
      await users.more(200);
      if (turn === 0) process.kill(pid, 'SIGUSR2');
      else assert.equal((await get(place.admin_port, '/restart', { method: 'POST', agent: false })).status, 200);
      const next = await child.ready();
      assert.deepEqual([next.port, next.admin_port], [place.port, place.admin_port]);
      assert.notEqual(next.pid, pid);
      pid = next.pid;
    }
    await users.more(200);
    const ledger = await users.stop();
    assert.deepEqual(ledger.failed, []);
    assert.equal(ledger.answered, ledger.planned);
    assert.equal(await child.exit(), 0);
  });
}

test('a request that is under way when another process takes over is finished by the old one', async () => {
  const arrived = gate();
  const finish = gate();
  await using api = await httpEndpoint('api-1', async (request, response) => {
    if (request.url === '/slow') {
      arrived.open();
      await finish.opened;
    }
    response.end('finished');
  });
  const { id, host, port } = api;
  await using child = await gatewayChild({ listen, admin: listen, endpoints: [{ id, host, port }] });
  const place = await child.ready();
  const slow = get(place.port, '/slow', { agent: false });
  await arrived.opened;
  child.process.kill('SIGUSR2');
  await child.ready();
  assert.equal((await get(place.port, '/', { agent: false })).body, 'finished');
  finish.open();
  assert.equal((await slow).body, 'finished');
  assert.equal(await child.exit(), 0);
});

test('a successor that cannot start changes nothing', async () => {
  await using api = await httpEndpoint('api-1', numbered);
  const { id, host, port } = api;
  const config = { listen, admin: listen, endpoints: [{ id, host, port }] };
  await using child = await gatewayChild(config);
  const place = await child.ready();
  await child.configure({ ...config, listen: { host: '127.0.0.1', port: -1 } });
  const answer = await get(place.admin_port, '/restart', { method: 'POST', agent: false });
  assert.equal(answer.status, 400);
  assert.match(answer.body, /ended \(exit code 2\) before it was ready; this one goes on/);
  await child.says(/listen\.port: found -1/);
  assert.equal((await get(place.port, '/1', { agent: false })).body, '/1');
});

test('SIGHUP and POST /reload read the file again; a wrong one is told with all its mistakes, and the old one stays', async () => {
  await using one = await httpEndpoint('api-1');
  await using two = await httpEndpoint('api-2');
  const config = (api: typeof one): object => ({
    listen,
    admin: listen,
    endpoints: [{ id: api.id, host: api.host, port: api.port }],
  });
  await using child = await gatewayChild(config(one));
  const place = await child.ready();
  const whoAnswers = async (): Promise<string> => (await get(place.port, '/', { agent: false })).body;
  assert.equal(await whoAnswers(), 'api-1\n');
  await child.configure(config(two));
  child.process.kill('SIGHUP');
  await child.says(/is in force/);
  assert.equal(await whoAnswers(), 'api-2\n');
  await child.configure({ ...config(one), retries: 11, policy: 'best' });
  child.process.kill('SIGHUP');
  await child.says(/retries: found 11[^]*nothing has changed|policy: found "best"[^]*nothing has changed/);
  const refused = await get(place.admin_port, '/reload', { method: 'POST', agent: false });
  assert.equal(refused.status, 400);
  assert.match(refused.body, /retries: found 11/);
  assert.match(refused.body, /policy: found \\"best\\"/);
  assert.equal(await whoAnswers(), 'api-2\n');
  await child.configure(config(one));
  assert.equal((await get(place.admin_port, '/reload', { method: 'POST', agent: false })).status, 200);
  assert.equal(await whoAnswers(), 'api-1\n');
});
