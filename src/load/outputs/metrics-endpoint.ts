// `/metrics` while a run goes on: a small HTTP server that serves what it is given when it is asked. Prometheus stops scraping when
// the run ends, so the last second is often missing there: OTLP or a file has it.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface MetricsEndpoint {
  readonly port: number;
  close(): Promise<void>;
}

/** Rejects with the system's error where the address cannot be had. */
export async function metricsEndpoint(host: string, port: number, text: () => string): Promise<MetricsEndpoint> {
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
      response.end('the metrics are at /metrics\n');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
    response.end(text());
  });
  await listening(server, host, port);
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
