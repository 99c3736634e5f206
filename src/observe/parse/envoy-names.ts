// Names of Envoy's statistics as its own Prometheus page writes them, so that `/stats` as text and as Prometheus give the same
// facts: the variable parts of a name become labels.
//
//   cluster.shop.upstream_rq_503: 3     envoy_cluster_upstream_rq{envoy_cluster_name="shop",envoy_response_code="503"} 3

export interface EnvoyName {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

// A cluster's name may have dots of its own; it ends where a name of Envoy's begins.
const cluster =
  /^cluster\.(.+?)\.((?:(?:external|internal|canary|zone\.[^.]+\.[^.]+)\.)?(?:upstream_|retry_or_shadow|membership_|lb_|outlier_detection|circuit_breakers|health_check|update_|bind_errors|max_host_weight|version|warming_state|assignment_|http[123]\.|ssl\.|client_ssl_|default\.|init_fetch|control_plane|original_dst|tls|grpc\.|dynamodb|redis|manager_server|total_match).*)$/;
const http =
  /^http\.(.+?)\.((?:downstream_|tracing\.|rs_too_large|no_|rq_|passthrough|fault|rbac|rds|cors|ext_authz|buffer|gzip|ratelimit|user_agent).*)$/;
const listener =
  /^listener\.(.+?)\.((?:downstream_|no_filter|ssl\.|http\.|admin|worker_|extension|network|fcds|lds).*)$/;

/** The Prometheus form of a statistic's name. */
export function envoyName(stat: string): EnvoyName {
  const inCluster = cluster.exec(stat);
  if (inCluster !== null) return coded('cluster', inCluster[2] ?? '', { envoy_cluster_name: inCluster[1] ?? '' });
  const inHttp = http.exec(stat);
  if (inHttp !== null) {
    return coded('http', inHttp[2] ?? '', { envoy_http_conn_manager_prefix: inHttp[1] ?? '' });
  }
  const inListener = listener.exec(stat);
  if (inListener !== null) {
    return coded('listener', inListener[2] ?? '', { envoy_listener_address: inListener[1] ?? '' });
  }
  return { name: `envoy_${plain(stat)}`, labels: {} };
}

/** Response codes and their classes at the end of a name are labels too. */
function coded(kind: string, rest: string, labels: Readonly<Record<string, string>>): EnvoyName {
  const code = /^(.*_rq)_(\d{3})$/.exec(rest);
  if (code !== null) {
    return { name: `envoy_${kind}_${plain(code[1] ?? '')}`, labels: { ...labels, envoy_response_code: code[2] ?? '' } };
  }
  const group = /^(.*_rq)_(\d)xx$/.exec(rest);
  if (group !== null) {
    const name = `envoy_${kind}_${plain(group[1] ?? '')}_xx`;
    return { name, labels: { ...labels, envoy_response_code_class: group[2] ?? '' } };
  }
  return { name: `envoy_${kind}_${plain(rest)}`, labels };
}

function plain(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]/g, '_');
}

const gauge =
  /_(?:active|open|buffered|version|warming|remaining\w*|uptime|live|concurrency|watermark\w*)$|membership_\w+$|max_host_weight$|health_check_healthy$|_remaining_|server_(?:memory\w*|state|total_connections|parent_connections|days_until\w*|hot_restart_epoch)$|manager_(?:total_listeners\w*|active_clusters|warming_clusters)$/;

/** What goes up and down; everything else Envoy counts. */
export function isEnvoyGauge(name: string): boolean {
  return gauge.test(name);
}
