import assert from 'node:assert/strict';
import { test } from 'node:test';

import { result, type Row, said, samples, settings, table } from '../testing/facts.ts';
import { judged, reasonOf, standing } from '../testing/judged.ts';

// ── accept-queue-overflow ──

test('a counter that grows and a queue at its limit: the backlog of the program', () => {
  const found = judged({
    settings: settings('kernel | sysctl | kernel.somaxconn = 4096 | sysctl.txt'),
    samples: samples(`
      node_netstat_TcpExt_ListenOverflows 120 890
      listen_recv_q{local=0.0.0.0:8000} 129
      listen_send_q{local=0.0.0.0:8000} 128
    `),
  });
  assert.equal(found.verdict.pattern, 'accept-queue-overflow');
  assert.match(found.verdict.culprit ?? '', /listen backlog 128 \(somaxconn 4096\)/);
});

test('where the kernel’s own bound is the smaller one, it is the culprit', () => {
  const found = judged({
    settings: settings(`
      kernel | sysctl | kernel.somaxconn = 128 | sysctl.txt
      nginx  | server | listen.backlog = 511
    `),
    samples: samples('TcpExtListenOverflows 0 77\nlisten_recv_q{local=:80} 129\nlisten_send_q{local=:80} 128'),
  });
  assert.match(found.verdict.culprit ?? '', /net\.core\.somaxconn 128/);
});

test('as many requests at one second as handshakes were dropped', () => {
  const found = judged({
    samples: samples('TcpExtListenOverflows 10 190'),
    results: [
      result('hey', {
        requests: 20000,
        connections: 300,
        histogram: [
          { seconds: 0.05, count: 15000 },
          { seconds: 0.2, count: 4830 },
          { seconds: 0.6, count: 0 },
          { seconds: 1.05, count: 170 },
        ],
      }),
    ],
  });
  assert.equal(found.verdict.pattern, 'accept-queue-overflow');
});

test('a proxy that finds the socket of its application full says so', () => {
  const found = judged({
    messages: said(
      'nginx',
      'upstream-backlog-full',
      'connect() to unix:/run/php.sock failed (11: Resource temporarily unavailable) while connecting to upstream',
      40,
    ),
  });
  assert.equal(found.verdict.pattern, 'accept-queue-overflow');
});

test('a slow tail with a still counter is somebody else’s', () => {
  const found = judged({
    samples: samples('TcpExtListenOverflows 12 12\nlisten_recv_q{local=:80} 3\nlisten_send_q{local=:80} 511'),
    results: [
      result('hey', {
        requests: 1000,
        histogram: [
          { seconds: 0.1, count: 900 },
          { seconds: 1.2, count: 100 },
        ],
      }),
    ],
  });
  assert.equal(standing(found, 'accept-queue-overflow'), 'refuted');
});

// ── conntrack-full ──

test('the count at the maximum, filled by one state that is kept for an hour', () => {
  const found = judged({
    settings: settings(`
      kernel | sysctl | kernel.conntrack-max = 262144                      | sysctl.txt
      kernel | sysctl | kernel.conntrack-timeout-close-wait = 3600         | sysctl.txt
      notes  | load   | load.rate = 900                                    | notes.yaml
    `),
    samples: samples(
      'node_nf_conntrack_entries 262140\nnode_nf_conntrack_entries_limit 262144\nconntrack_entries{state=CLOSE_WAIT} 240000\nconntrack_entries{state=ESTABLISHED} 20000',
    ),
  });
  assert.equal(found.verdict.pattern, 'conntrack-full');
  assert.match(found.verdict.culprit ?? '', /close_wait=3600/);
  assert.match(found.verdict.arithmetic.join(), /900\/s × 3600 s = 3240000 entries wanted, 262144 there/);
});

test('the kernel’s own words are enough', () => {
  const found = judged({
    messages: said('kernel', 'conntrack-full', 'nf_conntrack: nf_conntrack: table full, dropping packet', 5),
  });
  assert.equal(found.verdict.pattern, 'conntrack-full');
});

test('a table with room is not it', () => {
  const found = judged({ samples: samples('node_nf_conntrack_entries 41000\nnode_nf_conntrack_entries_limit 262144') });
  assert.equal(standing(found, 'conntrack-full'), 'refuted');
});

// ── ports ──

test('the proxy’s own error for want of an address, with as many sockets waiting as there are ports', () => {
  const found = judged({
    settings: settings(
      'kernel | sysctl | kernel.port-range-from = 32768 | sysctl.txt\nkernel | sysctl | kernel.port-range-to = 60999 | sysctl.txt',
    ),
    messages: said(
      'nginx',
      'address-not-available',
      'connect() to 10.0.0.4:9000 failed (99: Cannot assign requested address) while connecting to upstream',
      300,
    ),
    samples: samples('sockets_time_wait 28190'),
  });
  assert.equal(found.verdict.pattern, 'proxy-port-exhaustion');
  assert.match(found.verdict.arithmetic.join(), /28232 × 1 ÷ 60 s = 471\/s/);
});

test('the same error of a load generator is its own', () => {
  const found = judged({
    settings: settings('load-generator | options | load.reuses-connections = false | options.json'),
    messages: said(
      'k6',
      'address-not-available',
      'dial tcp 203.0.113.10:443: connect: cannot assign requested address',
      20,
    ),
    results: [result('k6', { requests: 60000, ratePerSecond: 1000, seconds: 60, errors: 31760 })],
  });
  assert.equal(found.verdict.pattern, 'generator-port-exhaustion');
});

test('errors that the service counted as well are the service’s', () => {
  const found = judged({
    settings: settings('load-generator | options | load.reuses-connections = false | options.json'),
    samples: samples('http_requests_total{code=200} 30000\nhttp_requests_total{code=503} 29000'),
    results: [result('k6', { requests: 60000, ratePerSecond: 1000, seconds: 60, errors: 30000 })],
  });
  assert.equal(standing(found, 'generator-port-exhaustion'), 'refuted');
});

test('a refused connection is no want of ports', () => {
  const found = judged({
    messages: said(
      'nginx',
      'upstream-refused',
      'connect() failed (111: Connection refused) while connecting to upstream',
      30,
    ),
    samples: samples('sockets_time_wait 400'),
  });
  assert.equal(standing(found, 'proxy-port-exhaustion'), 'silent');
});

// ── dns-quantised-delay ──

test('lookups that are late by five seconds or ten, and nothing between', () => {
  const quick = Array.from({ length: 40 }, (_, index) => `time_namelookup ${0.001 + (index % 9) / 1000}`).join('\n');
  const found = judged({
    samples: [
      ...samples(`${quick}\ntime_namelookup 5.012\ntime_namelookup 5.009\ntime_namelookup 10.021`, 'lookups.csv'),
      ...samples('conntrack_insert_failed 40 43'),
    ],
  });
  assert.equal(found.verdict.pattern, 'dns-quantised-delay');
  assert.match(found.verdict.culprit ?? '', /resolver timeout 5 s, UDP race in conntrack/);
});

test('lookups that are slow by all kinds of times are a slow resolver, not a timer', () => {
  const some = [0.9, 1.3, 1.71, 2.24, 3.6, 4.3].map((value) => `time_namelookup ${value}`).join('\n');
  const quick = Array.from({ length: 40 }, () => 'time_namelookup 0.003').join('\n');
  const found = judged({ samples: samples(`${quick}\n${some}`, 'lookups.csv') });
  assert.notEqual(found.verdict.pattern, 'dns-quantised-delay');
});

// ── cpu-throttling ──

const requestsOf = (slowInside: number, count = 60): Row[] =>
  Array.from({ length: count }, (_, index) => ({
    at: index / 2,
    status: 200,
    upstream: 0.003,
    seconds: index % 12 === 5 ? 0.003 + slowInside : 0.005,
  }));

test('throttled periods, and the time lost inside the program by less than a period', () => {
  const found = judged({
    settings: settings('kubernetes | pod edge-1 | cpu.limit = 0.5 | pod.yaml'),
    samples: samples(
      'container_cpu_cfs_periods_total{pod=edge-1} 1000 4000\ncontainer_cpu_cfs_throttled_periods_total{pod=edge-1} 50 950',
    ),
    requests: [table('nginx', requestsOf(0.08))],
  });
  assert.equal(found.verdict.pattern, 'cpu-throttling');
  assert.match(found.verdict.culprit ?? '', /edge-1: CPU limit 500m/);
});

test('cgroup counters by their kernel names are the same', () => {
  const found = judged({ samples: samples('nr_periods 31\nnr_throttled 30\nthrottled_time 2161282705', 'cpu.stat') });
  assert.equal(found.verdict.pattern, 'cpu-throttling');
});

test('flat counters kill it, whoever suspects it, and the reason says so', () => {
  const found = judged({
    samples: samples(
      'container_cpu_cfs_periods_total{pod=web-1} 1000 4000\ncontainer_cpu_cfs_throttled_periods_total{pod=web-1} 7 7',
    ),
    messages: said('chat', 'note', 'the batch job is throttling us'),
    requests: [table('nginx', requestsOf(0.08))],
  });
  assert.equal(standing(found, 'cpu-throttling'), 'refuted');
  assert.match(
    found.theories.find((one) => one.theory === 'cpu-throttling')?.reason ?? '',
    /0 of 3000 periods \(0 %\): flat counters/,
  );
});

test('a slow upstream is not lost inside, even where some periods are throttled', () => {
  const found = judged({
    samples: samples(
      'container_cpu_cfs_periods_total{pod=web-1} 1000 4000\ncontainer_cpu_cfs_throttled_periods_total{pod=web-1} 0 200',
    ),
    requests: [
      table(
        'nginx',
        Array.from({ length: 60 }, (_, index): Row => ({
          at: index,
          status: 200,
          upstream: index % 12 === 5 ? 0.08 : 0.003,
          seconds: index % 12 === 5 ? 0.083 : 0.005,
        })),
      ),
    ],
  });
  assert.notEqual(found.verdict.pattern, 'cpu-throttling');
});

test('a nightly report that is stopped in most of its periods stops nobody else', () => {
  const found = judged({
    samples: samples(
      'container_cpu_cfs_periods_total{pod=nightly-report} 1000 1600\ncontainer_cpu_cfs_throttled_periods_total{pod=nightly-report} 5 400',
    ),
    requests: [
      table(
        'envoy',
        Array.from({ length: 200 }, (_, index): Row => ({ at: index, seconds: 0.05, status: 200, service: 'shop' })),
      ),
    ],
  });
  assert.notEqual(found.verdict.pattern, 'cpu-throttling');
});

test('the throttled container is looked for among those that the log is about', () => {
  const found = judged({
    samples: samples(`
      container_cpu_cfs_periods_total{pod=nightly-report} 1000 1600
      container_cpu_cfs_throttled_periods_total{pod=nightly-report} 5 500
      container_cpu_cfs_periods_total{pod=shop-0} 1000 1600
      container_cpu_cfs_throttled_periods_total{pod=shop-0} 5 6
    `),
    requests: [
      table(
        'envoy',
        Array.from({ length: 200 }, (_, index): Row => ({ at: index, seconds: 0.05, status: 200, service: 'shop' })),
      ),
    ],
  });
  assert.match(reasonOf(found, 'cpu-throttling'), /1 of 600 periods .*flat counters/);
});
