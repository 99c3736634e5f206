// A configuration that can be read may still be a trap. What would go wrong together is found here before anything starts,
// with its arithmetic and its place, and can be allowed on purpose: `unsafe: [inner-timeout]`.

import { type GatewaySafety, unsafeGateway } from '../policy.ts';
import type { GatewayConfig } from './config.ts';

/** Each trap as a problem of the configuration. `path` is the key that it hangs on. */
export function safetyProblems(
  config: GatewayConfig,
): readonly { readonly path: readonly (string | number)[]; readonly message: string }[] {
  return unsafeGateway(safetyOfConfig(config), config.safety.allowed).map(({ name, where, because, instead }) => ({
    path: where.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
    message: `unsafe: ${because}; right would be ${instead}; or allow it by name: unsafe: [${name}]`,
  }));
}

function safetyOfConfig(config: GatewayConfig): GatewaySafety {
  const { admit, health, outlier, safety } = config;
  return {
    ...safety,
    timeout: config.timeout,
    connectTimeout: config.connectTimeout,
    retries: config.retries,
    retryRatio: admit.retryBudget?.ratio,
    queueInterval: admit.queue?.interval,
    checks: health,
    panicBelow: config.panicBelow,
    ejectedShareMax: outlier?.ejectedShareMax,
    endpoints: smallestFleet(config),
  };
}

/** The fewest endpoints that stand together: what is safe for those is safe for more. */
function smallestFleet({ endpoints, services }: GatewayConfig): number {
  const sizes = [endpoints, ...services.map((service) => service.endpoints)].map(
    (fleet) => fleet.filter((endpoint) => endpoint.weight > 0).length,
  );
  const standing = sizes.filter((size) => size > 0);
  return standing.length === 0 ? 0 : Math.min(...standing);
}
