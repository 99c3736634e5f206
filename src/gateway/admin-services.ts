// The services behind the gateway, for an operator:
//
//   GET  /services                     the names, with how many endpoints and how many of them are fit
//   GET  /services/NAME                its endpoints
//   POST /services/NAME/endpoints      { "endpoints": [ … ] }: the service's whole new list, in force at once

import type { Context, Hono } from 'hono';
import { parseEndpointList } from './config.ts';
import type { DataPlane } from './data-plane.ts';
import type { LiveFleet } from './live-fleet.ts';

/** `entry` is how an endpoint is shown. */
export function serviceRoutes(
  app: Hono,
  plane: DataPlane,
  entry: (live: LiveFleet['endpoints'][number]) => object,
): void {
  const { services } = plane;
  const page = (fleet: LiveFleet) => ({
    version: fleet.version,
    policy: fleet.policy,
    endpoints: fleet.endpoints.map(entry),
    leaving: [...fleet.leaving].map(entry),
  });
  const unknown = (context: Context) =>
    context.json({ problems: ['there is no service of that name; GET /services lists them'] }, 404);

  app.get('/services', (context) =>
    context.json({
      services: services.names().map((name) => {
        const fleet = services.named(name);
        return { name, endpoints: fleet?.endpoints.length ?? 0, healthy: fleet?.healthyCount ?? 0 };
      }),
    }),
  );
  app.get('/services/:name', (context) => {
    const fleet = services.named(context.req.param('name'));
    return fleet === undefined ? unknown(context) : context.json(page(fleet));
  });
  app.post('/services/:name/endpoints', async (context) => {
    const fleet = services.named(context.req.param('name'));
    if (fleet === undefined) return unknown(context);
    const parsed = parseEndpointList(await context.req.json().catch(() => undefined));
    if ('problems' in parsed) return context.json(parsed, 400);
    fleet.replace(parsed.endpoints, plane.engine.now());
    return context.json(page(fleet));
  });
}
