// What goes wrong when somebody loads an address: a mistake of the person is one clear message and exit code 2, a mistake of the
// world is a counted outcome.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { z } from 'zod';
import { plimsoll } from './testing/run-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bad-'));
/** Closed in the end, whatever a test has come to. */
const servers: net.Server[] = [];
after(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

/** Runs a command line that is not to start, and hands over what it said. */
async function refused(words: string, ...more: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await plimsoll(...words.split(' '), ...more);
  assert.equal(code, 2, stderr);
  assert.equal(stdout, '');
  assert.doesNotMatch(stderr, /^\s+at /m, 'no stack');
  return stderr;
}

test('a flag that there is not is told with the one that was meant', async () => {
  assert.match(
    await refused('load http://127.0.0.1:9/ --conections 4'),
    /unknown option '--conections'\n.*--connections/,
  );
});

test('words that are no address are told with one that is', async () => {
  assert.match(
    await refused('load localhost:8080/x'),
    /"localhost:8080\/x" is no URL; expected .*http:\/\/localhost:8080\/x/,
  );
  assert.match(await refused('load ftp://127.0.0.1/'), /ftp is not supported; expected http or https/);
  assert.match(
    await refused('load http://127.0.0.1:99999/'),
    /is no URL; expected one such as http:\/\/127\.0\.0\.1:8080/,
  );
  assert.match(await refused('load'), /no address: give one such as/);
});

test('a header or a method that HTTP does not know is told', async () => {
  assert.match(await refused('load http://127.0.0.1:9/ -H', 'bad name: x'), /--header: found "bad name: x", expected/);
  assert.match(await refused('load http://127.0.0.1:9/ -m 32'), /--method: found "32"/);
});

test('a port where nobody listens is told before the run', async () => {
  const port = await freePort();
  const told = await refused(`load http://127.0.0.1:${port}/ -d 1`);
  assert.match(told, /nobody listens there \(127\.0\.0\.1 refused port \d+\)/);
  assert.match(told, /--anyway starts all the same/);
});

test('a name that does not exist is told before the run', async () => {
  assert.match(
    await refused('load http://no-such-host.invalid/ -d 1'),
    /there is no such name \(no-such-host\.invalid/,
  );
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

test(
  'a certificate that nobody has signed, or that is for another name, is told with the flag that helps',
  { skip: !hasOpenssl },
  async () => {
    const { certFile, cert, key } = certificateFor('shop.test');
    const server = https.createServer({ cert, key }, (_request, response) => response.end('hello'));
    server.on('tlsClientError', () => {});
    const port = await listening(server);
    const unsigned = await refused(`load https://127.0.0.1:${port}/ -d 1`);
    assert.match(
      unsigned,
      /nobody that we trust has signed its certificate.*--ca FILE names who has, --insecure takes any/,
    );
    const wrongName = await refused(`load https://localhost:${port}/ -d 1 --ca ${certFile}`);
    assert.match(wrongName, /its certificate is not for localhost \(it is for DNS:shop\.test\)/);
    const { code, stderr } = await plimsoll(
      ...`load https://localhost:${port}/ -d 200ms --insecure --quiet`.split(' '),
    );
    assert.equal(code, 0, stderr);
  },
);

test('https where nobody speaks TLS is told', async () => {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
  });
  const port = await listening(server);
  assert.match(await refused(`load https://127.0.0.1:${port}/ -d 1`), /it does not speak TLS there: try http:\/\//);
});

test('files that are not there, or are not what they should be, are told', async () => {
  assert.match(await refused('load --from nowhere.har'), /--from nowhere\.har: ENOENT/);
  const file = join(folder, 'notes.txt');
  writeFileSync(file, 'hello\n');
  assert.match(
    await refused(`load --from ${file}`),
    /expected curl commands, a HAR.* OpenAPI document, and it is none of them/,
  );
});

const outcome = z.object({
  ledger: z.looseObject({ planned: z.number(), answered: z.number(), failed: z.number(), timed_out: z.number() }),
  errorsByKind: z.record(z.string(), z.number()),
});

/** What a short load of a server that misbehaves came to. */
async function loadOf(each: (socket: net.Socket) => void): Promise<z.infer<typeof outcome> & { text: string }> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    each(socket);
  });
  const port = await listening(server);
  const file = join(folder, `${port}.json`);
  const words = `load http://127.0.0.1:${port}/ -c 2 -d 300ms --timeout 100ms --json-file ${file}`;
  const { code, stdout, stderr } = await plimsoll(...words.split(' '));
  for (const socket of sockets) socket.destroy();
  assert.equal(code, 0, stderr);
  return { ...outcome.parse(JSON.parse(readFileSync(file, 'utf8'))), text: stdout };
}

test('a server that never answers: every request times out or is in flight at the end', async () => {
  const { ledger, text } = await loadOf(() => {});
  assert.equal(ledger.answered, 0);
  assert.ok(ledger.timed_out > 0);
  assert.match(text, /timeout: no whole answer within --timeout/);
  assert.match(text, /99\.000%  ≥ /);
});

test('a server that closes in the middle of a body: every request is truncated', async () => {
  const { ledger, errorsByKind, text } = await loadOf((socket) => {
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello'));
  });
  assert.equal(ledger.answered, 0);
  assert.equal(errorsByKind['truncated'], ledger.failed);
  assert.match(text, /truncated: the connection or the stream ended in the middle of an answer/);
});

test('a server that answers garbage: every request is a bad response', async () => {
  const { ledger, errorsByKind, text } = await loadOf((socket) => {
    socket.on('data', () => socket.write('\u0016\u0003\u0001 what is this\r\n\r\n'));
  });
  assert.equal(ledger.answered, 0);
  assert.equal(errorsByKind['bad-response'], ledger.failed);
  assert.match(text, /bad-response: what came is not the protocol that was asked/);
});

function listening(server: net.Server): Promise<number> {
  servers.push(server);
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function freePort(): Promise<number> {
  const server = net.createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function certificateFor(name: string): { certFile: string; cert: string; key: string } {
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=${name} -addext subjectAltName=DNS:${name}`;
  spawnSync('openssl', [...words.split(' '), '-keyout', keyFile, '-out', certFile]);
  return { certFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}
