// A scenario's gateway in our own gateway's words: a JSON file.

import type { PolicyName } from '../../scenario.ts';
import type { TargetConfiguration } from '../programs/replica-configuration.ts';
import type { GatewaySettings } from './gateway-program.ts';

export interface PlimsollConfiguration {
  readonly listen: { readonly host: string; readonly port: number };
  readonly admin: { readonly host: string; readonly port: number };
  readonly policy: PolicyName;
  readonly seed: number;
  readonly timeout_ns: number;
  readonly connect_timeout_ns: number;
  readonly retries: number;
  readonly health: {
    readonly path: string;
    readonly interval_ns: number;
    readonly timeout_ns: number;
    readonly fall: number;
    readonly rise: number;
  } | null;
  readonly endpoints: readonly TargetConfiguration[];
  readonly access_log: string | null;
  readonly unsafe: readonly string[];
}

/** A scenario plays what people run: our gateway would refuse some of it for itself. */
const allowed: readonly string[] = [
  'inner-timeout',
  'retry-storm',
  'workers-exhausted',
  'eviction-empties-fleet',
  'eviction-overloads-rest',
];

/** Port 0: the kernel chooses. */
export function plimsollConfiguration(
  settings: GatewaySettings,
  place: { readonly host: string; readonly port: number },
): PlimsollConfiguration {
  const { health } = settings;
  return {
    listen: { host: place.host, port: place.port },
    admin: { host: place.host, port: 0 },
    policy: settings.policy,
    seed: settings.seed,
    timeout_ns: settings.timeout,
    connect_timeout_ns: settings.connectTimeout,
    retries: settings.retries,
    health:
      health === undefined
        ? null
        : {
            path: health.path,
            interval_ns: health.interval,
            timeout_ns: health.timeout,
            fall: health.fall,
            rise: health.rise,
          },
    endpoints: settings.endpoints.map(({ id, host, port }) => ({ id, host, port })),
    access_log: null,
    unsafe: allowed,
  };
}
