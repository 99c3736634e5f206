// A server that accepts and holds, for the bench of held connections: it answers every request with two bytes.
//
//   node src/load/testing/holding-server.ts      prints its port, ends when its standard input does

import { nodeEngine, type Socket } from '../../net.ts';

const answer = new TextEncoder().encode('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');

const engine = nodeEngine();
const listener = await engine.listen({ host: '127.0.0.1', port: 0 }, () => ({
  // Requests of the bench come whole and one at a time.
  onData: (socket: Socket) => {
    socket.write(answer);
  },
  onEnd: (socket: Socket) => socket.destroy(),
  onClose: () => {},
}));
console.log(listener.port);
process.stdin.resume().on('end', () => process.exit());
