// The operator's door: what is, and how to change it while requests go on. Plain HTTP on an address of its own, loopback by
// default; it is not for the clients of the gateway.
//
//   GET  /livez      200 while the process serves this page
//   GET  /readyz     200 when requests would be taken: not draining, and somebody is healthy; 503 otherwise, with the reason
//   GET  /metrics    Prometheus text
//   GET  /endpoints  the list with health, counts, connections
//   POST /endpoints  { "endpoints": [ { "id", "host", "port", "weight"? } ] }: the whole new list, in force at once
//   POST /endpoints/ID/order   { "order": "drain" | "up" | "down" | null }: whatever checks say; null: go by them again
//   GET  /policy     { "policy", "seed" }
//   POST /policy     { "policy": "least-request", "seed"? }: in force from the next request on
//
// Answers are JSON; a mistake is 400 with every problem in `problems`.

import { serve, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import type { Instant } from '../base.ts';
import type { Endpoint } from '../policy.ts';
import { type Address, parseEndpointList, parseOperatorOrder, parsePolicyChoice } from './config.ts';
import type { DataPlane } from './data-plane.ts';
import type { LiveEndpoint } from './live-endpoint.ts';
import { metricsText } from './metrics.ts';

/** What an operator may change. */
export interface Operations {
  setEndpoints(endpoints: readonly Endpoint[]): void;
}

export interface RunningAdmin {
  readonly port: number;
  close(): Promise<void>;
}

/** Rejects with the system's error when the address cannot be had. */
export function startAdmin(address: Address, plane: DataPlane, operations: Operations): Promise<RunningAdmin> {
  const app = adminApp(plane, operations);
  return new Promise((resolve, reject) => {
    const server: ServerType = serve({ fetch: app.fetch, hostname: address.host, port: address.port }, (info) => {
      server.off('error', reject);
      resolve({ port: info.port, close: () => closed(server) });
    });
    server.once('error', reject);
  });
}

function adminApp(plane: DataPlane, operations: Operations): Hono {
  const app = new Hono();
  const now = (): Instant => plane.engine.now();

  app.get('/livez', (context) => context.text('alive\n'));
  app.get('/readyz', (context) => {
    const reason = notReady(plane);
    return reason === undefined ? context.text('ready\n') : context.text(`${reason}\n`, 503);
  });
  app.get('/metrics', (context) => {
    context.header('content-type', 'text/plain; version=0.0.4; charset=utf-8');
    return context.body(metricsText(plane, now()));
  });

  app.get('/endpoints', (context) => context.json(endpointsPage(plane, now())));
  app.post('/endpoints', async (context) => {
    const parsed = parseEndpointList(await bodyOf(context.req));
    if ('problems' in parsed) return context.json(parsed, 400);
    operations.setEndpoints(parsed.endpoints);
    return context.json(endpointsPage(plane, now()));
  });

  app.post('/endpoints/:id/order', async (context) => {
    const live = plane.fleet.endpoints.find((candidate) => candidate.endpoint.id === context.req.param('id'));
    if (live === undefined) return context.json({ problems: [`no endpoint ${context.req.param('id')}`] }, 404);
    const parsed = parseOperatorOrder(await bodyOf(context.req));
    if ('problems' in parsed) return context.json(parsed, 400);
    plane.fleet.setOrder(live, parsed.order);
    return context.json(endpointEntry(live, now()));
  });

  app.get('/policy', (context) => context.json({ policy: plane.fleet.policy }));
  app.post('/policy', async (context) => {
    const parsed = parsePolicyChoice(await bodyOf(context.req));
    if ('problems' in parsed) return context.json(parsed, 400);
    plane.fleet.setPolicy(parsed.policy, parsed.seed, now());
    return context.json({ policy: plane.fleet.policy });
  });
  return app;
}

function notReady(plane: DataPlane): string | undefined {
  if (plane.draining) return 'draining';
  return plane.fleet.healthyCount === 0 ? 'no endpoint is healthy' : undefined;
}

function endpointsPage(plane: DataPlane, now: Instant) {
  return {
    version: plane.fleet.version,
    endpoints: plane.fleet.endpoints.map((live) => endpointEntry(live, now)),
    leaving: [...plane.fleet.leaving].map((live) => endpointEntry(live, now)),
  };
}

function endpointEntry(live: LiveEndpoint, now: Instant) {
  const { id, host, port, weight, zone, priority } = live.endpoint;
  return {
    id,
    host,
    port,
    weight,
    zone: zone ?? null,
    priority: priority ?? 0,
    healthy: live.healthy,
    passes_checks: live.passes,
    ejected: live.ejected,
    requests: live.requests,
    in_flight: live.inFlight,
    in_flight_seconds: live.inFlightSeconds(now),
    connections: live.connections,
    idle_connections: live.pool.size,
    errors: live.errors,
  };
}

/** The body as JSON; undefined, which no shape accepts, when it is not. */
async function bodyOf(request: { json(): Promise<unknown> }): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    return undefined;
  }
}

function closed(server: ServerType): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
}
