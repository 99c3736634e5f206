// The operator's door: what is, and how to change it while requests go on. Plain HTTP on an address of its own, loopback by
// default; it is not for the clients of the gateway.
//
//   GET  /livez       200 while the process serves this page
//   GET  /readyz      200 when requests would be taken: not draining, and somebody is healthy; 503 otherwise, with the reason
//   GET  /metrics     Prometheus text
//   GET  /config      the configuration in force, secrets hidden
//   GET  /endpoints   the list with health, counts, connections; /endpoints/ID: one of them
//   POST /endpoints   { "endpoints": [ { "id", "host", "port", "weight"? } ] }: the whole new list, in force at once
//   POST /endpoints/ID/weight  { "weight": 0.5 }
//   POST /endpoints/ID/order   { "order": "drain" | "up" | "down" | null }: whatever checks say; null: go by them again
//   GET  /policy      { "policy", "seed" }
//   POST /policy      { "policy": "least-request", "seed"? }: in force from the next request on
//   POST /reload      the configuration is read again; 400 with all problems, and the old one stays
//   POST /restart     a new process takes over the listening sockets; this one finishes what it has
//   POST /drain       { "draining": true | false }: not ready, and every answer asks its client to come back elsewhere
//   GET  /why         the latest stories in short; /why/REQUEST-ID: one, as JSON, or as words to whoever accepts text/plain
//
// Answers are JSON; a mistake is 400 with every problem in `problems`.

import { createAdaptorServer, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import type { Instant } from '../base.ts';
import type { Endpoint } from '../policy.ts';
import { parseDraining } from './admin-bodies.ts';
import { endpointRoutes } from './admin-endpoints.ts';
import { serviceRoutes } from './admin-services.ts';
import { type Address, parseEndpointList, parsePolicyChoice } from './config.ts';
import { configDump } from './config-dump.ts';
import type { DataPlane } from './data-plane.ts';
import type { LiveEndpoint } from './live-endpoint.ts';
import { metricsText } from './metrics.ts';
import type { Stories } from './stories.ts';
import { storyText } from './story-text.ts';

/** What an operator may change. */
export interface Operations {
  setEndpoints(endpoints: readonly Endpoint[]): void;
}

/** What a gateway can do that was started by a process with a file. Each resolves to the problems; none: it is done. */
export interface ProcessOperations {
  /** Reads the configuration again. */
  readonly reload: (() => Promise<readonly string[]>) | undefined;
  /** Hands over to a new process. */
  readonly restart: (() => Promise<readonly string[]>) | undefined;
}

export interface RunningAdmin {
  readonly port: number;
  /** To be handed to another process. */
  readonly fd: number | undefined;
  close(): Promise<void>;
}

/** An admin API without an address: asked with a request, answers with a response. */
export type AdminApp = Pick<Hono, 'fetch'>;

/** Serves it at an address, or on a socket that listens already. Rejects with the system's error when the address cannot be had. */
export function serveAdmin(address: Address, app: AdminApp, inherited: number | undefined): Promise<RunningAdmin> {
  const server = createAdaptorServer({ fetch: app.fetch });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(inherited === undefined ? { host: address.host, port: address.port } : { fd: inherited }, () => {
      server.off('error', reject);
      const at = server.address();
      const fd: unknown = Reflect.get(Object(Reflect.get(server, '_handle')), 'fd');
      resolve({
        port: typeof at === 'object' && at !== null ? at.port : 0,
        fd: typeof fd === 'number' && fd >= 0 ? fd : undefined,
        close: () => closed(server),
      });
    });
  });
}

export function adminApp(plane: DataPlane, operations: Operations, whole: ProcessOperations): Hono {
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

  endpointRoutes(app, plane, (live) => endpointEntry(live, now()));
  serviceRoutes(app, plane, (live) => endpointEntry(live, now()));

  app.get('/policy', (context) => context.json({ policy: plane.fleet.policy }));
  app.post('/policy', async (context) => {
    const parsed = parsePolicyChoice(await bodyOf(context.req));
    if ('problems' in parsed) return context.json(parsed, 400);
    plane.fleet.setPolicy(parsed.policy, parsed.seed, now());
    return context.json({ policy: plane.fleet.policy });
  });

  app.get('/config', (context) => {
    const { policy, endpoints } = plane.fleet;
    const present = { policy, endpoints: endpoints.map((live) => live.endpoint) };
    return context.json(JSON.parse(JSON.stringify(configDump(plane.config, present))));
  });
  for (const [path, act] of [
    ['/reload', whole.reload],
    ['/restart', whole.restart],
  ] as const) {
    app.post(path, async (context) => {
      if (act === undefined) return context.json({ problems: ['this gateway was started from no file'] }, 501);
      const problems = await act();
      return problems.length === 0 ? context.json({ problems }) : context.json({ problems }, 400);
    });
  }
  app.post('/drain', async (context) => {
    const parsed = parseDraining(await bodyOf(context.req));
    if ('problems' in parsed) return context.json(parsed, 400);
    plane.draining = parsed.draining;
    return context.json({ draining: plane.draining, in_flight: plane.inFlight });
  });

  const kept = (): Stories | undefined => plane.telling?.stories;
  app.get('/why', (context) => {
    const stories = kept();
    if (stories === undefined) return context.json({ problems: [notExplained] }, 404);
    const latest = stories.latest(latestMax).map(({ id, time, method, path, status, way, because }) => {
      return { id, time, method, path, status, way, because };
    });
    return context.json({ kept: stories.size, latest });
  });
  app.get('/why/:id', (context) => {
    const id = context.req.param('id');
    const stories = kept();
    const story = stories?.of(id);
    if (story === undefined) {
      const reason =
        stories === undefined ? notExplained : `no story of ${id} is kept: not drawn, not asked for, or too old`;
      return context.json({ problems: [reason] }, 404);
    }
    const asText = context.req.header('accept')?.startsWith('text/plain') === true;
    return asText ? context.text(storyText(story)) : context.json(story);
  });
  return app;
}

const lastAnswersMs = 500;
/** In `GET /why`. */
const latestMax = 100;
const notExplained = 'this gateway keeps no stories: `explain: {}` in its configuration';

function notReady(plane: DataPlane): string | undefined {
  if (plane.draining) return 'draining';
  return plane.fleet.healthyCount > 0 || plane.services.someHealthy ? undefined : 'no endpoint is healthy';
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
    breaker_open: live.tripped,
    order: live.order ?? null,
    excluded_by: live.excludedBy ?? null,
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

/** Takes nobody new. Answers under way (to whoever asked for this, for one) get a moment. */
function closed(server: ServerType): Promise<void> {
  return new Promise((resolve) => {
    const hurry = setTimeout(() => {
      if ('closeAllConnections' in server) server.closeAllConnections();
    }, lastAnswersMs);
    server.close(() => {
      clearTimeout(hurry);
      resolve();
    });
  });
}
