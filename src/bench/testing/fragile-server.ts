// A replica that can be killed, stopped, slowed and started again: `fragile-server.ts ID PORT`. Node's own server, a few milliseconds
// a request, a ready line with the port; `/slow/100` makes it slower by so many milliseconds. For the gateway under fire.

import http from 'node:http';
import type { AddressInfo } from 'node:net';

const [id = '', port = '0'] = process.argv.slice(2);
let slower = 0;

const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  response.setHeader('x-plimsoll-replica', id);
  const order = /^\/slow\/(\d+)$/.exec(request.url ?? '');
  if (order !== null) slower = Number(order[1]);
  if (order !== null || request.url === '/healthz') return void response.end('ok\n');
  setTimeout(() => response.end(`${id}\n`), 2 + Math.random() * 8 + slower);
});
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address() as AddressInfo;
  console.log(JSON.stringify({ ready: true, port: address.port }));
});
process.stdin.once('end', () => process.exit()).resume();
