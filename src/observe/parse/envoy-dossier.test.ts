import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dossierOf, expected, requestLines, sampleLines, settingLines } from '../testing/facts.ts';
import { samples } from '../testing/samples.ts';

test('the default form and that of Istio: what Envoy answered itself has no upstream time', () => {
  assert.deepEqual(
    requestLines(dossierOf(samples['Envoy access log'] ?? '')),
    expected(`
      07:00:00.120 GET /cart status=200 seconds=0.044 upstream=0.04 answered=200 by=10.3.0.11:80 for=192.0.2.9 service=shop.example
      07:00:00.130 GET /cart status=503 seconds=0 flag=UO service=shop.example
      07:00:00.140 GET /cart status=200 seconds=0.012 upstream=0.011 answered=200 by=10.3.0.12:80 for=192.0.2.9 service=outbound|80||shop.default.svc.cluster.local
    `),
  );
});

test('a TCP line has dashes and code 0, and may have two flags', () => {
  const dossier = dossierOf('[2026-04-02T07:00:00.120Z] "- - -" 0 UF,URX 0 0 10002 - "-" "-" "-" "-" "10.3.0.11:80"\n');
  assert.deepEqual(requestLines(dossier), ['07:00:00.120 status=0 seconds=10.002 by=10.3.0.11:80 flag=UF,URX']);
});

test('statistics have the names of the Prometheus page, with the variable parts as labels', () => {
  assert.deepEqual(
    sampleLines(dossierOf(samples['Envoy statistics'] ?? '')),
    expected(`
      envoy_cluster_upstream_rq_total{envoy_cluster_name=shop.eu} +97
      envoy_cluster_upstream_rq{envoy_cluster_name=shop.eu,envoy_response_code=504} +37
      envoy_cluster_upstream_rq_xx{envoy_cluster_name=shop.eu,envoy_response_code_class=5} +37
      envoy_cluster_upstream_rq_active{envoy_cluster_name=shop.eu} 3
      envoy_cluster_upstream_rq_time{envoy_cluster_name=shop.eu,quantile=0} 1
      envoy_cluster_upstream_rq_time{envoy_cluster_name=shop.eu,quantile=0.5} 40
      envoy_cluster_upstream_rq_time{envoy_cluster_name=shop.eu,quantile=0.99} 900
      envoy_http_downstream_cx_active{envoy_http_conn_manager_prefix=edge} 12
      envoy_server_uptime 86400
    `),
  );
  const json = JSON.stringify({
    stats: [{ name: 'cluster.shop.internal.upstream_rq_503', value: 3 }, { histograms: {} }],
  });
  assert.deepEqual(sampleLines(dossierOf(json)), [
    'envoy_cluster_internal_upstream_rq{envoy_cluster_name=shop,envoy_response_code=503} +3',
  ]);
});

const hosts = `
  envoy_endpoint_rq_total{envoy_cluster_name=shop,endpoint=10.3.0.11:80,zone=z1} +50
  envoy_endpoint_healthy{envoy_cluster_name=shop,endpoint=10.3.0.11:80,zone=z1,health_flags=healthy} 1
  envoy_endpoint_rq_total{envoy_cluster_name=shop,endpoint=10.3.0.12:80} +7
  envoy_endpoint_healthy{envoy_cluster_name=shop,endpoint=10.3.0.12:80,health_flags=/failed_active_hc} 0
`;

test('clusters: every host with what it has had; text and JSON say the same', () => {
  const text = dossierOf(samples['Envoy clusters'] ?? '');
  assert.deepEqual(
    sampleLines(text).filter((line) => !line.includes('cx_active')),
    expected(hosts),
  );
  assert.deepEqual(
    settingLines(text),
    expected(`
      [cluster shop] breaker.max-connections = 1024 :1
      [cluster shop] breaker.max-requests = 3 :2
      [cluster shop] upstream.endpoints = 2 :4
      [cluster shop] upstream.endpoint-list = 10.3.0.11:80,10.3.0.12:80 :4
    `),
  );
  const host = (address: string, total: string, more: object): object => ({
    address: { socket_address: { address, port_value: 80 } },
    stats: [{ type: 'COUNTER', name: 'rq_total', value: total }],
    ...more,
  });
  const json = dossierOf(
    JSON.stringify({
      cluster_statuses: [
        {
          name: 'shop',
          host_statuses: [
            host('10.3.0.11', '50', { locality: { zone: 'z1' }, health_status: { eds_health_status: 'HEALTHY' } }),
            host('10.3.0.12', '7', { health_status: { failed_active_hc: true } }),
          ],
        },
      ],
    }),
  );
  const told = sampleLines(json).filter((line) => /rq_total|healthy/.test(line));
  assert.deepEqual(told, expected(hosts));
});

test('a configuration: what is written, what the virtual host adds, and what binds all the same', () => {
  assert.deepEqual(
    settingLines(dossierOf(samples['Envoy configuration'] ?? '')),
    expected(`
      [http edge] downstream.idle-timeout = 3600 (implied)
      [http edge] route.idle-timeout = 30 :9
      [route /slow] route.target = shop :16
      [route /slow] route.timeout = 60 :16
      [route /slow] route.retries = 3 :13
      [route /slow] route.retry-on = 5xx :13
      [route /slow] retry.backoff = 0.025 (implied)
      [route /slow] retry.redispatch = false (implied)
      [route /] route.target = shop :18
      [route /] route.timeout = 15 (implied)
      [route /] route.retries = 3 :13
      [route /] route.retry-on = 5xx :13
      [route /] retry.backoff = 0.025 (implied)
      [route /] retry.redispatch = false (implied)
      [cluster shop] balance.policy = least-request :22
      [cluster shop] upstream.address-kind = dns :21
      [cluster shop] upstream.connect-timeout = 5 (implied)
      [cluster shop] upstream.idle-timeout = 3600 (implied)
      [cluster shop] breaker.max-connections = 1024 (implied)
      [cluster shop] breaker.max-pending = 1024 (implied)
      [cluster shop] breaker.max-requests = 1024 (implied)
      [cluster shop] breaker.max-retries = 3 (implied)
      [cluster shop] outlier.enabled = false (implied)
      [cluster shop] balance.panic-threshold = 0 :23
      [cluster shop] health.kind = none (implied)
      [cluster shop] dns.interval = 5 (implied)
      [cluster shop] upstream.endpoints = 1 :24
      [cluster shop] upstream.endpoint-list = shop.example:80 :24
      [cluster shop] replicas.zone-layout = z1=1 :24
    `),
  );
});

test('a dump wraps clusters and routes, and durations in it may be messages', () => {
  const dump = {
    configs: [
      {
        '@type': 'type.googleapis.com/envoy.admin.v3.ClustersConfigDump',
        dynamic_active_clusters: [
          {
            cluster: {
              '@type': 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
              name: 'shop',
              type: 'EDS',
              connect_timeout: { seconds: '1', nanos: 500_000_000 },
              outlier_detection: { consecutive_5xx: { value: 7 } },
            },
          },
        ],
      },
    ],
  };
  const lines = settingLines(dossierOf(JSON.stringify(dump)));
  assert.ok(lines.some((line) => line.startsWith('[cluster shop] upstream.connect-timeout = 1.5 :')));
  assert.ok(lines.some((line) => line.startsWith('[cluster shop] outlier.consecutive-5xx = 7 :')));
  assert.ok(lines.includes('[cluster shop] outlier.max-ejection-share = 0.1 (implied)'));
  assert.ok(lines.some((line) => line.startsWith('[cluster shop] upstream.address-kind = pods :')));
});

test('limits for high priority alone leave the default ones in force', () => {
  const lines = settingLines(
    dossierOf(
      'name: shop\nconnect_timeout: 1s\ncircuit_breakers:\n  thresholds:\n  - {priority: HIGH, max_requests: 9}\n',
    ),
  );
  assert.ok(lines.includes('[cluster shop] breaker.max-requests = 1024 (implied)'));
  assert.ok(lines.includes('[cluster shop (high priority)] breaker.max-requests = 9 :5'));
});

test('an excerpt without a name implies nothing', () => {
  assert.deepEqual(settingLines(dossierOf('{"lb_policy": "LEAST_REQUEST", "outlier_detection": null}')), [
    '[cluster unnamed] balance.policy = least-request :1',
    '[cluster unnamed] outlier.enabled = false :1',
  ]);
});
