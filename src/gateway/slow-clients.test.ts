// Clients that take their time, take more than their share, or never come back: what each costs is bounded in memory and in time.

import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { gate, get, httpEndpoint, rawEndpoint, sample, stand, Talk } from './stand/stand.ts';
import { flag, frame, frameType, FrameTalk, getRequest, headerBlock } from './stand/http2-frames.ts';

const address = { host: '127.0.0.1', port: 0 };
const clear = { listen: { ...address, http2: true } };
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test('a head that comes byte by byte is given up when its time is over, however busy it looks', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api], { limits: { head_timeout_ns: 100e6 } });
  const dripping = Array.from({ length: 50 }, async () => {
    using talk = await Talk.with(gateway.port);
    talk.say('GET / HTTP/1.1\r\nHost: x\r\nX: ');
    while (!talk.ended && talk.heard === '') {
      talk.say('a');
      await tick();
    }
    return talk.heard;
  });
  // Everybody else is served meanwhile.
  assert.equal((await get(gateway.port)).status, 200);
  for (const heard of await Promise.all(dripping)) assert.match(heard, /^HTTP\/1\.1 408 /);
  assert.equal(api.served(), 1);
});

test('a head larger than it may be is answered 431 before it is whole, and costs no more than its limit', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api]);
  for (const field of [`X: ${'a'.repeat(1_000_000)}`, 'X: a\r\n'.repeat(100_000)]) {
    using talk = await Talk.with(gateway.port);
    talk.socket.on('error', () => {});
    talk.say(`GET / HTTP/1.1\r\nHost: x\r\n${field}`);
    assert.match(await talk.until(/\r\n\r\n/), /^HTTP\/1\.1 431 /);
  }
  assert.equal(api.served(), 0);
});

test('an upload that stands still is 408 after a while, long before the deadline, and its endpoint is told', async () => {
  const left = gate();
  await using api = await rawEndpoint('api-1', (socket) => socket.resume().on('close', () => left.open()));
  await using gateway = await stand([api], { limits: { body_timeout_ns: 100e6 }, timeout_ns: 60e9 });
  for (const framing of ['Content-Length: 100\r\n\r\nsome', 'Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n']) {
    using talk = await Talk.with(gateway.port);
    talk.say(`POST / HTTP/1.1\r\nHost: x\r\n${framing}`);
    assert.match(await talk.until(/\r\n\r\n/), /^HTTP\/1\.1 408 /);
    await left.opened;
  }
});

test('an upload that goes on, however slowly, is not taken for one that stands still', async () => {
  await using api = await httpEndpoint('api-1', (request, response) => {
    request.resume().on('end', () => response.end('whole'));
  });
  await using gateway = await stand([api], { limits: { body_timeout_ns: 200e6 } });
  using talk = await Talk.with(gateway.port);
  talk.say('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\n\r\n');
  for (let sent = 0; sent < 60; sent++) {
    talk.say('a');
    await tick();
  }
  assert.match(await talk.until(/whole$/), /^HTTP\/1\.1 200 /);
});

test('an upload that an endpoint does not take is not the client’s fault', async () => {
  await using api = await rawEndpoint('api-1', (socket) => socket.pause());
  await using gateway = await stand([api], { limits: { body_timeout_ns: 50e6 }, timeout_ns: 1e9 });
  const client = net.connect(gateway.port, '127.0.0.1');
  client.on('error', () => {});
  const answered = new Promise<string>((resolve) => client.once('data', (piece) => resolve(piece.toString('latin1'))));
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n');
  client.write(Buffer.alloc(100_000_000));
  assert.match(await answered, /^HTTP\/1\.1 504 /);
  client.destroy();
});

test('a client that takes nothing of its answer is broken off, and its endpoint is let go', async () => {
  const closed = gate();
  await using api = await httpEndpoint('api-1', (_request, response) => {
    response.on('close', () => closed.open());
    const offer = (): void => {
      while (response.write(Buffer.alloc(1024 * 1024)));
      response.once('drain', offer);
    };
    offer();
  });
  await using gateway = await stand([api], { limits: { stall_timeout_ns: 100e6 }, timeout_ns: 60e9 });
  const client = net.connect(gateway.port, '127.0.0.1');
  client.on('error', () => {});
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  client.pause();
  await closed.opened;
  const page = gateway.gateway.metrics();
  assert.equal(sample(page, 'plimsoll_gateway_ways_out_total{way="slow-client"}'), 1);
  client.destroy();
});

test('a peer that has gone without a word is forgotten when it has been silent for long enough', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api], { limits: { idle_timeout_ns: 50e6 } });
  // It keeps its socket open and reads nothing: to us it looks like one that has lost its power.
  const silent = Array.from({ length: 100 }, () =>
    net
      .connect(gateway.port, '127.0.0.1')
      .pause()
      .on('error', () => {}),
  );
  for (const socket of silent.slice(0, 50)) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  while ((sample(gateway.gateway.metrics(), 'plimsoll_gateway_requests_total{code="200"}') ?? 0) < 50) await tick();
  while (sample(gateway.gateway.metrics(), 'plimsoll_gateway_connections') !== 0) await tick();
  for (const socket of silent) socket.destroy();
});

test('an address and a listener have no more connections than they may, and get them back', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api], {
    listen: [
      { ...address, connections_max: 3 },
      { host: '127.0.0.2', port: 0 },
    ],
    limits: { connections_per_address_max: 2 },
  });
  const [first = 0, second = 0] = gateway.gateway.ports;
  const connected = async (port: number, options: net.TcpNetConnectOpts): Promise<net.Socket | undefined> => {
    const socket = net.connect({ ...options, port }).on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const served = await new Promise((resolve) =>
      socket.once('data', () => resolve(true)).once('close', () => resolve(false)),
    );
    return served === true ? socket : undefined;
  };
  const from = (localAddress: string, host = '127.0.0.1') => ({ port: 0, host, localAddress });
  const one = await connected(first, from('127.0.0.1'));
  assert.ok(one !== undefined && (await connected(first, from('127.0.0.1'))) !== undefined);
  // Of one address, whatever the listener.
  assert.equal(await connected(first, from('127.0.0.1')), undefined);
  assert.equal(await connected(second, from('127.0.0.1', '127.0.0.2')), undefined);
  // Of one listener, whatever the address.
  const other = await connected(first, from('127.0.0.3'));
  assert.ok(other !== undefined);
  assert.equal(await connected(first, from('127.0.0.4')), undefined);
  assert.ok((await connected(second, from('127.0.0.4', '127.0.0.2'))) !== undefined);
  one.destroy();
  other.destroy();
  // Given back when the gateway has seen the end of them.
  for (;;) {
    const again = await connected(first, from('127.0.0.1'));
    if (again !== undefined) break;
    await tick();
  }
});

test('a connection of HTTP/2 that opens streams and resets them is ended, with what it wanted', async () => {
  await using api = await httpEndpoint('api-1', () => {});
  await using gateway = await stand([api], {
    ...clear,
    limits: { http2_resets_burst: 50, http2_resets_per_second: 10 },
  });
  using talk = await FrameTalk.with(gateway.port);
  for (let stream = 1; stream < 2000 && !talk.ended; stream += 2) {
    talk.say(
      frame(frameType.headers, flag.endHeaders + flag.endStream, stream, getRequest),
      frame(frameType.reset, 0, stream, Buffer.of(0, 0, 0, 8)),
    );
    if (stream % 100 === 1) await tick();
  }
  await talk.toTheEnd();
  assert.ok(talk.heard.some((one) => one.type === frameType.goAway));
  // Of a thousand, some more than the burst may have got as far as an endpoint, and none is left.
  assert.ok(api.served() <= 100, `${api.served()} requests reached the endpoint`);
  assert.equal(sample(gateway.gateway.metrics(), 'plimsoll_gateway_in_flight'), 0);
});

test('a header block that goes on and on is ended', async () => {
  await using gateway = await stand([], clear);
  const piece = headerBlock([['x', 'a'.repeat(4000)]]);
  using flood = await FrameTalk.with(gateway.port);
  flood.say(frame(frameType.headers, flag.endStream, 1, getRequest));
  for (let count = 0; count < 2000 && !flood.ended; count++) {
    flood.say(frame(frameType.continuation, 0, 1, piece));
    if (count % 10 === 0) await tick();
  }
  await flood.toTheEnd();
});

test('a header block that does not go on is ended when nothing has been asked for a while', async () => {
  await using gateway = await stand([], { ...clear, limits: { idle_timeout_ns: 200e6 } });
  using drip = await FrameTalk.with(gateway.port);
  drip.say(frame(frameType.headers, flag.endStream, 1, getRequest));
  await drip.toTheEnd();
});

test('a flood of settings or pings is ended', async () => {
  await using gateway = await stand([], clear);
  const floods = [frame(frameType.settings, 0, 0), frame(frameType.ping, 0, 0, Buffer.alloc(8))];
  for (const one of floods) {
    using talk = await FrameTalk.with(gateway.port);
    // Nothing of what is answered is read: the answers are what would fill the memory.
    talk.socket.pause();
    const many = Buffer.concat(Array.from({ length: 1000 }, () => one));
    for (let count = 0; count < 500 && !talk.socket.destroyed; count++) {
      if (!talk.socket.write(many)) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    talk.socket.resume();
    await talk.toTheEnd();
  }
});

test('streams beyond the limit are refused, so that they can be sent again, and the others are served', async () => {
  const finish = gate();
  await using api = await httpEndpoint('api-1', async (_request, response) => {
    await finish.opened;
    response.end('fine');
  });
  await using gateway = await stand([api], { ...clear, limits: { http2_streams_max: 4 } });
  using talk = await FrameTalk.with(gateway.port);
  // What the limit is has been said; whoever does not look goes beyond it.
  const settings = await talk.until(frameType.settings);
  assert.ok(settings?.payload.includes(Buffer.of(0, 3, 0, 0, 0, 4)) === true);
  for (let stream = 1; stream <= 11; stream += 2) {
    talk.say(frame(frameType.headers, flag.endHeaders + flag.endStream, stream, getRequest));
  }
  const refused = await talk.until(frameType.reset);
  assert.equal(refused?.payload.readUInt32BE(), 7);
  finish.open();
  while (talk.heard.filter((one) => one.type === frameType.headers).length < 4) await tick();
  assert.equal(talk.heard.filter((one) => one.type === frameType.reset).length, 2);
  // Whoever has said that they know the limit, and goes beyond it, is ended.
  using knowing = await FrameTalk.with(gateway.port);
  knowing.say(frame(frameType.settings, 1, 0));
  for (let stream = 1; stream <= 21; stream += 2)
    knowing.say(frame(frameType.headers, flag.endHeaders, stream, getRequest));
  assert.ok((await knowing.until(frameType.goAway)) !== undefined);
});

test('a list of fields larger than it may be is refused, and the connection goes on', async () => {
  await using api = await httpEndpoint('api-1');
  await using gateway = await stand([api], { ...clear, limits: { head_bytes_max: 2048 } });
  using talk = await FrameTalk.with(gateway.port);
  const large = Buffer.concat([getRequest, headerBlock([['x', 'a'.repeat(4000)]])]);
  talk.say(frame(frameType.headers, flag.endHeaders + flag.endStream, 1, large));
  const answer = await Promise.race([talk.until(frameType.reset), talk.until(frameType.headers)]);
  assert.equal(answer?.stream, 1);
  assert.equal(api.served(), 0);
  talk.say(frame(frameType.headers, flag.endHeaders + flag.endStream, 3, getRequest));
  while (!talk.heard.some((one) => one.type === frameType.headers && one.stream === 3)) await tick();
});
