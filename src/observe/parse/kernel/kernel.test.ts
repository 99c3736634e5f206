import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dossierOf, expected, messageLines, sampleLines, seriesLines, settingLines } from '../../testing/facts.ts';
import { samples } from '../../testing/samples.ts';

test('counts of sockets by state and by peer', () => {
  const dossier = dossierOf(samples['counts of sockets'] ?? '');
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      sockets_total_open 6211
      tcp_sockets 6002
      tcp_established 310
      tcp_closed 2824
      tcp_orphaned 4
      tcp_time_wait 2821
      tcp_close_wait 7
      sockets_to_peer{peer=10.9.0.20:8443} 2823
    `),
  );
});

test('a listening socket tells its queue and its backlog, others are counted, and each look is a reading', () => {
  const dossier = dossierOf(samples['list of sockets'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [listener 0.0.0.0:8080] listen.backlog = 128 :3
    `),
  );
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      listen_accept_queue{listener=0.0.0.0:8080} 129
      listen_accept_queue_limit{listener=0.0.0.0:8080} 128
      tcp_established 2
      sockets_to_peer{peer=10.9.0.20:80} 2
      tcp_round_trip_seconds{peer=10.9.0.20:80} 0.0005
      tcp_retransmits_total{peer=10.9.0.20:80} +3
      listen_accept_queue{listener=0.0.0.0:8080} 0 #1
      listen_accept_queue_limit{listener=0.0.0.0:8080} 128 #1
      tcp_time_wait 1 #1
      sockets_to_peer{peer=10.9.0.20:80} 1 #1
    `),
  );
  assert.deepEqual(
    seriesLines(dossier),
    expected(`
      listen_accept_queue{listener=0.0.0.0:8080} 07:00:00.000 129 0
    `),
  );
});

test('counters have nstat’s names whatever they were read from', () => {
  const dossier = dossierOf(samples['kernel network counters'] ?? '');
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      TcpExtSyncookiesSent +0
      TcpExtListenOverflows +3378
      TcpExtListenDrops +3380
      TcpActiveOpens +100
      TcpCurrEstab 31
      TcpRetransSegs +12
      sockstat_sockets_used 290
      sockstat_TCP_inuse 5
      sockstat_TCP_orphan 0
      sockstat_TCP_tw 2821
      sockstat_TCP_alloc 7
      sockstat_TCP_mem 1
    `),
  );
});

test('parameters that bind load are settings, every number is a sample', () => {
  const dossier = dossierOf(samples['kernel parameters'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [sysctl] kernel.somaxconn = 4096 :1
      [sysctl] kernel.port-range-from = 32768 :2
      [sysctl] kernel.port-range-to = 60999 :2
      [sysctl] kernel.reuse-time-wait = true :3
    `),
  );
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      net_core_somaxconn 4096
      net_ipv4_tcp_tw_reuse 2
      net_netfilter_nf_conntrack_count 6553
    `),
  );
});

test('of the limits of a process the soft one on open files binds', () => {
  const dossier = dossierOf(samples['limits of a process'] ?? '');
  assert.deepEqual(settingLines(dossier), expected('[main] kernel.files-per-process-max = 1024 :3'));
});

test('the kernel’s log: codes, and of whom they speak', () => {
  const dossier = dossierOf(samples['kernel log'] ?? '');
  assert.deepEqual(
    messageLines(dossier),
    expected(`
      - conntrack-full
      - syn-flood port 8080
      - out-of-memory java
      07:00:00.000 log-kernel
    `),
  );
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      kernel_log_uptime_seconds{code=conntrack-full,which=first} 88123.1
      kernel_log_uptime_seconds{code=conntrack-full,which=last} 88123.1
      kernel_log_uptime_seconds{code=syn-flood,which=first} 88124.25
      kernel_log_uptime_seconds{code=syn-flood,which=last} 88124.25
      kernel_log_uptime_seconds{code=out-of-memory,which=first} 88125
      kernel_log_uptime_seconds{code=out-of-memory,which=last} 88125
    `),
  );
});

test('connection tracking: counters by processor, entries by state', () => {
  const dossier = dossierOf(samples['connection tracking'] ?? '');
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      conntrack_found{cpu=0} +15
      conntrack_invalid{cpu=0} +0
      conntrack_insert{cpu=0} +0
      conntrack_insert_failed{cpu=0} +120
      conntrack_drop{cpu=0} +121
      conntrack_early_drop{cpu=0} +0
      conntrack_error{cpu=0} +0
      conntrack_search_restart{cpu=0} +4
      conntrack_found{cpu=1} +11
      conntrack_invalid{cpu=1} +0
      conntrack_insert{cpu=1} +0
      conntrack_insert_failed{cpu=1} +3
      conntrack_drop{cpu=1} +3
      conntrack_early_drop{cpu=1} +0
      conntrack_error{cpu=1} +0
      conntrack_search_restart{cpu=1} +1
      conntrack_entries{state=ESTABLISHED} 1
      conntrack_entries{state=udp} 1
    `),
  );
});

test('a control group’s quota is a limit of cores, its throttling has cAdvisor’s names, pressure its resource', () => {
  const dossier = dossierOf(samples['control group statistics'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [control group web] cpu.limit = 0.2 :7
      [control group web] cpu.quota-period = 0.1 :7
    `),
  );
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      container_cpu_usage_seconds_total{container=web} +900
      container_cpu_cfs_periods_total{container=web} +3000
      container_cpu_cfs_throttled_periods_total{container=web} +930
      container_cpu_cfs_throttled_seconds_total{container=web} +52.1
      pressure_waiting_seconds_total{kind=some,resource=cpu} +12.345
      pressure_share{kind=some,resource=cpu,window=10s} 0.015
      pressure_share{kind=some,resource=cpu,window=60s} 0.001
      pressure_share{kind=some,resource=cpu,window=300s} 0.0005
    `),
  );
});

test('a resolver: what is not written binds as well', () => {
  const dossier = dossierOf(samples['resolver configuration'] ?? '');
  assert.deepEqual(
    settingLines(dossier),
    expected(`
      [resolv.conf] dns.servers = 10.9.0.10 :2
      [resolv.conf] dns.search-domains = 2 :3
      [resolv.conf] dns.timeout = 5 (implied)
      [resolv.conf] dns.attempts = 2 (implied)
      [resolv.conf] dns.search-dots = 5 :4
      [resolv.conf] dns.parallel-questions = false :4
    `),
  );
});

test('processor time by process', () => {
  const dossier = dossierOf(samples['processor time by process'] ?? '');
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      cpu_percent{pid=3331,command=nginx} 100
      cpu_wait_percent{pid=3331,command=nginx} 3
      cpu_percent{pid=3332,command=nginx} 2.5
      cpu_wait_percent{pid=3332,command=nginx} 0
    `),
  );
});

test('curl’s times, one row a request', () => {
  const dossier = dossierOf(samples['curl times'] ?? '');
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      time_namelookup{row=1} 0.022099
      time_total{row=1} 0.029399
      time_namelookup{row=2} 2.505759
      time_total{row=2} 2.513059
    `),
  );
});

test('HAProxy’s activity, whole and by thread', () => {
  const dossier = dossierOf(samples['HAProxy show activity'] ?? '');
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      haproxy_activity_ctxsw +1100
      haproxy_activity_ctxsw{thread=0} +600
      haproxy_activity_ctxsw{thread=1} +500
      haproxy_activity_loops +521
      haproxy_activity_loops{thread=0} +260
      haproxy_activity_loops{thread=1} +261
      haproxy_activity_wake_tasks +30
      haproxy_activity_wake_tasks{thread=0} +10
      haproxy_activity_wake_tasks{thread=1} +20
      haproxy_activity_avg_loop_us 6700
      haproxy_activity_avg_loop_us{thread=0} 6650
      haproxy_activity_avg_loop_us{thread=1} 6750
    `),
  );
});
