import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dossierOf, eventLines, expected, sampleLines, settingLines } from '../testing/facts.ts';
import { samples } from '../testing/samples.ts';

test('a deployment: replicas, rollout, limits, probe, and the seconds in a hook’s command', () => {
  assert.deepEqual(
    settingLines(dossierOf(samples['Kubernetes objects'] ?? '')),
    expected(`
      [deployment web] replicas.count = 3 :5
      [deployment web] rollout.max-surge = 0.25 (implied)
      [deployment web] rollout.max-unavailable = 0.25 (implied)
      [deployment web] rollout.termination-grace = 45 :8
      [deployment web] cpu.limit = 0.5 :11
      [deployment web] cpu.quota-period = 0.1 (implied)
      [deployment web readiness] health.kind = http :12
      [deployment web readiness] health.path = /ready :12
      [deployment web readiness] health.interval = 5 :12
      [deployment web readiness] health.timeout = 1 (implied)
      [deployment web readiness] health.fall = 3 (implied)
      [deployment web readiness] health.rise = 1 (implied)
      [deployment web] rollout.readiness-delay = 0 (implied)
      [deployment web] rollout.readiness-path = /ready :12
      [deployment web] rollout.pre-stop-sleep = 15 :13
      [deployment web] pool.size = 10 :14
      [service web] upstream.address-kind = headless :19
    `),
  );
});

test('a service with an address places connections; a cloud’s balancer is configured by annotations', () => {
  const text = `apiVersion: v1
kind: Service
metadata:
  name: in
  annotations: {service.beta.kubernetes.io/aws-load-balancer-connection-idle-timeout: "3600"}
spec: {type: LoadBalancer, clusterIP: 10.96.0.7, sessionAffinity: ClientIP}
`;
  assert.deepEqual(
    settingLines(dossierOf(text)),
    expected(`
      [service in] upstream.address-kind = cluster-ip :6
      [service in] balance.layer = tcp (implied)
      [service in] balance.policy = random (implied)
      [service in] balance.sticky = client-ip :6
      [service in] downstream.idle-timeout = 3600 :5
      [service in] upstream.idle-timeout = 3600 :5
    `),
  );
});

test('an autoscaler: what it watches, where it aims, where it stands', () => {
  const text = JSON.stringify({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web' },
    spec: {
      minReplicas: 2,
      maxReplicas: 9,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
      ],
    },
    status: {
      currentReplicas: 2,
      desiredReplicas: 2,
      currentMetrics: [{ resource: { name: 'cpu', current: { averageUtilization: 27 } } }],
    },
  });
  const dossier = dossierOf(text);
  assert.deepEqual(settingLines(dossier), [
    '[autoscaler web] scale.min = 2 :1',
    '[autoscaler web] scale.max = 9 :1',
    '[autoscaler web] scale.metric = cpu :1',
    '[autoscaler web] scale.target = 0.7 :1',
  ]);
  assert.deepEqual(sampleLines(dossier), [
    'autoscaler_current_replicas{autoscaler=web} 2',
    'autoscaler_desired_replicas{autoscaler=web} 2',
    'autoscaler_current_utilization{autoscaler=web,metric=cpu} 0.27',
  ]);
});

test('endpoints: how many there are, and none when there are none', () => {
  const endpoints = (subsets: object[]): string =>
    JSON.stringify({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web' }, subsets });
  assert.deepEqual(settingLines(dossierOf(endpoints([]))), ['[service web] upstream.endpoints = 0 :1']);
  const some = dossierOf(endpoints([{ addresses: [{ ip: '10.1.0.1' }], notReadyAddresses: [{ ip: '10.1.0.2' }] }]));
  assert.deepEqual(sampleLines(some), [
    'endpoint_healthy{scope=service web,endpoint=10.1.0.1} 1',
    'endpoint_healthy{scope=service web,endpoint=10.1.0.2} 0',
  ]);
});

test('an HTTPProxy: its timeouts, tries and probe, and Envoy’s 15 s where it sets none', () => {
  const text = `apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: shop}
spec:
  routes:
  - conditions: [{prefix: /a}]
    timeoutPolicy: {response: 1s, idle: infinity}
    retryPolicy: {count: 3, perTryTimeout: 150ms}
    healthCheckPolicy: {path: /up}
    services: [{name: s1, port: 80}]
  - services: [{name: s2, port: 80}]
    loadBalancerPolicy: {strategy: WeightedLeastRequest}
`;
  const lines = settingLines(dossierOf(text));
  assert.ok(lines.includes('[httpproxy shop route /a] route.timeout = 1 :7'));
  assert.ok(lines.includes('[httpproxy shop route /a] route.per-try-timeout = 0.15 :8'));
  assert.ok(lines.includes('[httpproxy shop route /a] route.retries = 3 :8'));
  assert.ok(lines.includes('[httpproxy shop route /a] health.interval = 5 (implied)'));
  assert.ok(lines.includes('[httpproxy shop route /] route.timeout = 15 (implied)'));
  assert.ok(lines.includes('[httpproxy shop route /] route.retries = 0 (implied)'));
});

test('an Ingress is configured by annotations', () => {
  const text = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  annotations:
    nginx.ingress.kubernetes.io/proxy-read-timeout: "30"
    nginx.ingress.kubernetes.io/load-balance: ewma
    nginx.ingress.kubernetes.io/proxy-next-upstream-tries: "2"
spec:
  rules: [{http: {paths: [{path: /, backend: {service: {name: web}}}]}}]
`;
  assert.deepEqual(
    settingLines(dossierOf(text)),
    expected(`
      [ingress web] upstream.read-timeout = 30 :6
      [ingress web] route.retries = 1 :8
      [ingress web] balance.policy = peak-ewma :7
      [ingress web] route.target = web :10
    `),
  );
});

test('events as the API tells them, as kubectl prints them', () => {
  const api = JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        kind: 'Event',
        reason: 'Killing',
        message: 'Stopping container web',
        lastTimestamp: '2026-04-02T07:00:00Z',
        involvedObject: { kind: 'Pod', name: 'web-1' },
      },
      {
        kind: 'Event',
        reason: 'SuccessfulRescale',
        message: 'New size: 4',
        eventTime: '2026-04-02T07:00:05.000000Z',
        involvedObject: { kind: 'HorizontalPodAutoscaler', name: 'web' },
      },
    ],
  });
  assert.deepEqual(eventLines(dossierOf(api)), [
    '07:00:00.000 pod-terminating web-1 (Stopping container web)',
    '07:00:05.000 scaled horizontalpodautoscaler web (New size: 4)',
  ]);
  assert.deepEqual(eventLines(dossierOf(samples['kubectl get events'] ?? '')), [
    '- unhealthy web-1 (Readiness probe failed: timeout)',
    '- scaled deployment web (Scaled up replica set web-7 to 4)',
  ]);
});

test('tables of pods: cores and bytes, or readiness and restarts', () => {
  assert.deepEqual(sampleLines(dossierOf(samples['kubectl table of pods'] ?? '')), [
    'pod_cpu_cores{pod=web-1} 0.25',
    'pod_memory_bytes{pod=web-1} 67108864',
    'pod_cpu_cores{pod=web-2} 0.003',
    'pod_memory_bytes{pod=web-2} 62914560',
  ]);
  const pods = dossierOf('NAME    READY   STATUS    RESTARTS      AGE\nweb-1   0/1     Running   4 (2m ago)    5d\n');
  assert.deepEqual(sampleLines(pods), [
    'kube_pod_container_status_restarts_total{pod=web-1} +4',
    'kube_pod_status_ready{pod=web-1,status=Running} 0',
  ]);
});

test('a mesh: Istio’s retries bind where nobody wrote them', () => {
  const text = `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: shop}
spec: {http: [{route: [{destination: {host: shop}}]}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: shop}
spec: {trafficPolicy: {connectionPool: {http: {http1MaxPendingRequests: 5}}, outlierDetection: {}}}
`;
  const lines = settingLines(dossierOf(text));
  assert.ok(lines.includes('[virtualservice shop route /] route.retries = 2 (implied)'));
  assert.ok(lines.includes('[virtualservice shop route /] route.timeout = Infinity (implied)'));
  assert.ok(lines.includes('[destinationrule shop] breaker.max-pending = 5 :9'));
  assert.ok(lines.includes('[destinationrule shop] balance.panic-threshold = 0 (implied)'));
});
