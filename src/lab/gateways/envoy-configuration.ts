// The gateway's settings in Envoy's words: a bootstrap that does not change, and beside it the endpoints in a file of their own
// (EDS from a file), so that the list can change while requests go on. The comparison with the other programs stays fair:
//
//   - one worker, circuit breakers out of the way (the default refuses the 1,025th request), no panic: whoever fails its checks gets
//     nothing, as with HAProxy;
//   - least request looks at all endpoints, as the others do, and not at two of them;
//   - a check that fails counts towards `fall`, whatever the status: by default one 503 would be enough.
//
// The access log is Envoy's own default form, except that it names the replica instead of its address and says the cluster and the
// client's connection at the end.

import { type Duration, inMs } from '../../base.ts';
import type { HealthCheck, PolicyName } from '../../scenario.ts';
import type { TargetConfiguration } from '../programs/replica-configuration.ts';
import type { GatewaySettings } from './gateway-program.ts';

export interface EnvoyPlace {
  readonly host: string;
  readonly port: number;
  readonly adminPort: number;
  readonly accessLog: string;
  /** File with the endpoints: see `envoyEndpoints`. */
  readonly endpointsFile: string;
}

/** Envoy's default form with `UPSTREAM_HOST_NAME` in the place of `UPSTREAM_HOST`, and two more. */
const accessLogFormat =
  '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% ' +
  '%BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" ' +
  '"%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST_NAME%" %UPSTREAM_CLUSTER% %CONNECTION_ID%\n';

/** More than a lab can have. */
const unlimited = 1_000_000;

/** The bootstrap, to be written as JSON. */
export function envoyConfiguration(settings: GatewaySettings, place: EnvoyPlace): object {
  const { service } = settings;
  return {
    admin: { address: address(place.host, place.adminPort) },
    node: { id: 'lab', cluster: 'lab' },
    static_resources: {
      listeners: [
        {
          name: 'gateway',
          address: address(place.host, place.port),
          filter_chains: [{ filters: [{ name: 'http', typed_config: connectionManager(settings, place.accessLog) }] }],
        },
      ],
      clusters: [
        {
          name: service,
          type: 'EDS',
          eds_cluster_config: {
            eds_config: { path_config_source: { path: place.endpointsFile }, resource_api_version: 'V3' },
          },
          connect_timeout: milliseconds(settings.connectTimeout),
          load_balancing_policy: balancing[settings.policy],
          common_lb_config: { healthy_panic_threshold: { value: 0 } },
          circuit_breakers: {
            thresholds: [
              {
                max_connections: unlimited,
                max_pending_requests: unlimited,
                max_requests: unlimited,
                max_retries: unlimited,
              },
            ],
          },
          ...(settings.health === undefined ? {} : { health_checks: [healthCheck(settings.health)] }),
        },
      ],
    },
  };
}

/** The list of endpoints, to be written as JSON. Envoy reads it anew when another file is moved to its place. */
export function envoyEndpoints(service: string, endpoints: readonly TargetConfiguration[]): object {
  return {
    resources: [
      {
        '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
        cluster_name: service,
        endpoints: [
          {
            lb_endpoints: endpoints.map(({ id, host, port }) => ({
              endpoint: { hostname: id, address: address(host, port) },
            })),
          },
        ],
      },
    ],
  };
}

function connectionManager(settings: GatewaySettings, accessLog: string): object {
  const { service, retries } = settings;
  const retryPolicy = {
    // As the others: no connection, or one that ended without an answer.
    retry_on: 'connect-failure,reset-before-request,reset',
    num_retries: retries,
    retry_host_predicate: [
      { name: 'previous', typed_config: { '@type': type('retry.host.previous_hosts.v3.PreviousHostsPredicate') } },
    ],
    host_selection_retry_max_attempts: 5,
  };
  const route = {
    cluster: service,
    timeout: milliseconds(settings.timeout),
    ...(retries === 0 ? {} : { retry_policy: retryPolicy }),
  };
  return {
    '@type': type('filters.network.http_connection_manager.v3.HttpConnectionManager'),
    stat_prefix: 'gateway',
    use_remote_address: true,
    access_log: [
      {
        name: 'file',
        typed_config: {
          '@type': type('access_loggers.file.v3.FileAccessLog'),
          path: accessLog,
          log_format: { text_format_source: { inline_string: accessLogFormat } },
        },
      },
    ],
    route_config: {
      virtual_hosts: [{ name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, route }] }],
    },
    http_filters: [{ name: 'router', typed_config: { '@type': type('filters.http.router.v3.Router') } }],
  };
}

const balancing: Readonly<Record<PolicyName, object>> = {
  'round-robin': balancer('round_robin.v3.RoundRobin'),
  random: balancer('random.v3.Random'),
  'least-request': balancer('least_request.v3.LeastRequest', { selection_method: 'FULL_SCAN' }),
};

function balancer(name: string, settings: object = {}): object {
  const typed = { '@type': type(`load_balancing_policies.${name}`), ...settings };
  return { policies: [{ typed_extension_config: { name: 'balancer', typed_config: typed } }] };
}

function healthCheck(health: HealthCheck): object {
  return {
    timeout: milliseconds(health.timeout),
    interval: milliseconds(health.interval),
    no_traffic_interval: milliseconds(health.interval),
    unhealthy_threshold: health.fall,
    healthy_threshold: health.rise,
    http_health_check: { path: health.path, retriable_statuses: [{ start: 201, end: 599 }] },
  };
}

function type(name: string): string {
  return `type.googleapis.com/envoy.extensions.${name}`;
}

function address(host: string, port: number): object {
  return { socket_address: { address: host, port_value: port } };
}

function milliseconds(duration: Duration): string {
  return `${Math.max(1, Math.round(inMs(duration))) / 1000}s`;
}
