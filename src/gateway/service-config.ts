// Several services behind one gateway, and which requests are for which, as they stand in the configuration:
//
//   services: [{ name: shop, endpoints: […] }, { name: api, policy: least-request, endpoints: […] }]
//   routes:   [{ host: shop.example, service: shop }, { host: shop.example, path: /api, service: api }]

import { z } from 'zod';
import type { BalancerName, Endpoint } from '../policy.ts';

export interface ServiceConfig {
  readonly name: string;
  /** Undefined: the gateway's. */
  readonly policy: BalancerName | undefined;
  readonly endpoints: readonly Endpoint[];
}

export interface RouteConfig {
  /** In lower case and without a port; undefined: any. */
  readonly host: string | undefined;
  /** A path and all below it: `/api` is for `/api`, `/api/cart` and `/api?x`, not for `/apiary`. */
  readonly path: string;
  readonly service: string;
}

const name = z
  .string({ error: 'expected a name' })
  .regex(/^[A-Za-z0-9._-]{1,128}$/, { error: 'expected 1 to 128 letters, digits, dots, dashes' });

export const routeShape = z.strictObject(
  {
    host: z
      .string({ error: 'expected a host name' })
      .regex(/^[A-Za-z0-9._-]+$/, { error: 'expected a host name without a port' })
      .optional(),
    path: z
      .string({ error: 'expected a path' })
      .regex(/^\/[!-~]*$/, { error: 'expected a path that begins with /' })
      .default('/'),
    service: name,
  },
  { error: 'expected an object with service, and host or path' },
);

/** Keys of the configuration, and what one of `services` may hold. */
export function serviceShapes<EndpointsShape extends z.ZodType, PolicyShape extends z.ZodType>(
  endpoints: EndpointsShape,
  policy: PolicyShape,
) {
  const service = z.strictObject(
    { name, policy: policy.optional(), endpoints },
    { error: 'expected an object with name and endpoints' },
  );
  const services = z.array(service, { error: 'expected a list of services' }).default([]);
  const routes = z.array(routeShape, { error: 'expected a list of routes' }).default([]);
  return { service, keys: { services, routes } };
}

export function routeOf(raw: z.infer<typeof routeShape>): RouteConfig {
  return { host: raw.host?.toLowerCase(), path: raw.path, service: raw.service };
}

interface Mistake {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What single keys cannot show. */
export function serviceProblems(
  services: readonly ServiceConfig[],
  routes: readonly RouteConfig[],
): readonly Mistake[] {
  const names = services.map((service) => service.name);
  const problems: Mistake[] = [];
  names.forEach((one, index) => {
    const first = names.indexOf(one);
    if (first < index) {
      problems.push({
        path: ['services', index, 'name'],
        message: `found "${one}", expected a name of its own: service ${first} is called that too`,
      });
    }
  });
  routes.forEach((route, index) => {
    if (!names.includes(route.service)) {
      const known = names.length === 0 ? 'there are no services' : `the services are ${names.join(', ')}`;
      problems.push({ path: ['routes', index, 'service'], message: `found "${route.service}"; ${known}` });
    }
  });
  return problems;
}
