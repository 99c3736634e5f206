// One endpoint, for an operator: of those beside the services, and of each service, with the same three requests.
//
//   GET  …/endpoints/ID          what there is to say of it
//   POST …/endpoints/ID/order    { "order": "drain" | "up" | "down" | null }
//   POST …/endpoints/ID/weight   { "weight": 0.5 }

import type { Context, Hono } from 'hono';
import { parseOperatorOrder, parseWeight } from './admin-bodies.ts';
import type { DataPlane } from './data-plane.ts';
import type { LiveEndpoint } from './live-endpoint.ts';
import type { LiveFleet } from './live-fleet.ts';

/** `entry` is how an endpoint is shown. */
export function endpointRoutes(app: Hono, plane: DataPlane, entry: (live: LiveEndpoint) => object): void {
  routesBelow(app, '', plane, () => plane.fleet, entry);
  routesBelow(app, '/services/:name', plane, (context) => plane.services.named(context.req.param('name') ?? ''), entry);
}

function routesBelow(
  app: Hono,
  base: string,
  plane: DataPlane,
  fleetOf: (context: Context) => LiveFleet | undefined,
  entry: (live: LiveEndpoint) => object,
): void {
  /** Answers with the endpoint after `act`, which may refuse with a list of problems. */
  const answer = async (
    context: Context,
    act: (fleet: LiveFleet, live: LiveEndpoint) => Promise<readonly string[]>,
  ): Promise<Response> => {
    const fleet = fleetOf(context);
    const live = fleet?.endpoints.find(({ endpoint }) => endpoint.id === context.req.param('id'));
    if (fleet === undefined || live === undefined) return context.json(nobody, 404);
    const problems = await act(fleet, live);
    return problems.length > 0 ? context.json({ problems }, 400) : context.json(entry(live));
  };

  app.get(`${base}/endpoints/:id`, (context) => answer(context, async () => []));
  app.post(`${base}/endpoints/:id/order`, (context) =>
    answer(context, async (fleet, live) => {
      const parsed = parseOperatorOrder(await bodyOf(context));
      if ('problems' in parsed) return parsed.problems;
      fleet.setOrder(live, parsed.order);
      return [];
    }),
  );
  app.post(`${base}/endpoints/:id/weight`, (context) =>
    answer(context, async (fleet, live) => {
      const parsed = parseWeight(await bodyOf(context));
      if ('problems' in parsed) return parsed.problems;
      const { weight } = parsed;
      const list = fleet.endpoints.map((one) => (one === live ? { ...one.endpoint, weight } : one.endpoint));
      fleet.replace(list, plane.engine.now());
      return [];
    }),
  );
}

const nobody = { problems: ['there is no endpoint of that name; GET /endpoints or /services/NAME lists them'] };

/** Undefined, which no shape accepts, when it is not JSON. */
function bodyOf(context: Context): Promise<unknown> {
  return context.req.json().catch(() => undefined);
}
