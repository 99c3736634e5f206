// The same facts as other tools print them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dossierOf, messageLines, sampleLines, settingLines } from '../../testing/facts.ts';

const samplesOf = (text: string): string[] => sampleLines(dossierOf(text));

test('netstat lists sockets as ss does, but its queues of listening sockets say nothing', () => {
  const text = `Active Internet connections (servers and established)
Proto Recv-Q Send-Q Local Address           Foreign Address         State
tcp        0      0 0.0.0.0:8080            0.0.0.0:*               LISTEN
tcp        0      0 10.9.0.1:40000          10.9.0.20:80            ESTABLISHED
tcp6       0      0 10.9.0.1:40001          10.9.0.20:80            TIME_WAIT
`;
  assert.deepEqual(samplesOf(text), ['tcp_established 1', 'tcp_time_wait 1', 'sockets_to_peer{peer=10.9.0.20:80} 2']);
});

test('the sentences of netstat -s and the lines of nstat are the same counters', () => {
  const sentences = `Tcp:
    100 active connection openings
    12 segments retransmitted
TcpExt:
    3378 times the listen queue of a socket overflowed
    3380 SYNs to LISTEN sockets dropped
    TCPLostRetransmit: 4
`;
  const lines = `#kernel
TcpActiveOpens                  100                0.0
TcpRetransSegs                  12                 0.0
TcpExtListenOverflows           3378               0.0
TcpExtListenDrops               3380               0.0
TcpExtTCPLostRetransmit         4                  0.0
`;
  assert.deepEqual(samplesOf(sentences), samplesOf(lines));
  assert.equal(samplesOf(lines)[2], 'TcpExtListenOverflows +3378');
});

test('counts from uniq are counts of sockets, and what is counted again is another look', () => {
  const text = '  28219 TIME-WAIT\n    310 ESTAB\n  28100 TIME-WAIT\n';
  assert.deepEqual(samplesOf(text), ['tcp_time_wait 28219', 'tcp_established 310', 'tcp_time_wait 28100 #1']);
  assert.deepEqual(samplesOf('  28232 10.9.0.20:8443\n      3 10.9.0.21:8443\n'), [
    'sockets_to_peer{peer=10.9.0.20:8443} 28232',
    'sockets_to_peer{peer=10.9.0.21:8443} 3',
  ]);
});

test('connection tracking in hex, one line a processor, and as a table of states', () => {
  const hex = `entries  clashres found new invalid ignore delete delete_list insert insert_failed drop early_drop
0009d6ca  00000000 0000000f 00000000 00000000 00000000 00000000 00000000 00000000 00000078 00000079 00000000
0009d6ca  00000000 0000000b 00000000 00000000 00000000 00000000 00000000 00000000 00000003 00000003 00000000
`;
  const found = samplesOf(hex);
  assert.deepEqual(
    found.filter((line) => /count|insert_failed/.test(line)),
    ['nf_conntrack_count 644810', 'conntrack_insert_failed{cpu=0} +120', 'conntrack_insert_failed{cpu=1} +3'],
  );
  assert.deepEqual(samplesOf('state,entries\nCLOSE_WAIT,602930\nTIME_WAIT,41200\n'), [
    'conntrack_entries{state=CLOSE_WAIT} 602930',
    'conntrack_entries{state=TIME_WAIT} 41200',
  ]);
});

test('the kernel’s log through syslog and the journal has points in time', () => {
  const text = `2026-04-02T07:00:00.5+0000 node-3 kernel: nf_conntrack: nf_conntrack: table full, dropping packet
2026-04-02T07:00:01.5+0000 node-3 kernel: [88123.1] TCP: request_sock_TCP: Possible SYN flooding on port 0.0.0.0:8080. Sending cookies.
`;
  assert.deepEqual(messageLines(dossierOf(text)), ['07:00:00.500 conntrack-full', '07:00:01.500 syn-flood port 8080']);
});

test('a control group of the first version counts in nanoseconds; what is read again is another reading', () => {
  const text = 'nr_periods 10\nnr_throttled 4\nthrottled_time 2500000000\nnr_periods 20\nnr_throttled 9\n';
  assert.deepEqual(samplesOf(text), [
    'container_cpu_cfs_periods_total +10',
    'container_cpu_cfs_throttled_periods_total +4',
    'container_cpu_cfs_throttled_seconds_total +2.5',
    'container_cpu_cfs_periods_total +20 #1',
    'container_cpu_cfs_throttled_periods_total +9 #1',
  ]);
  const quota = 'cpu.cfs_quota_us 20000\ncpu.cfs_period_us 100000\n';
  assert.deepEqual(settingLines(dossierOf(quota)), [
    '[control group here] cpu.limit = 0.2 :2',
    '[control group here] cpu.quota-period = 0.1 :2',
  ]);
});

test('top, and averages in place of the tables before them', () => {
  const top = `top - 07:00:01 up 1 day,  1:00,  1 user,  load average: 2.00, 1.00, 0.50
Tasks: 200 total,   2 running
%Cpu(s): 60.0 us, 10.0 sy,  0.0 ni, 25.0 id,  0.0 wa,  0.0 hi,  0.0 si,  5.0 st

    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
   3331 www       20   0  100000  20000  10000 R  99.9   1.0   1:00.00 nginx: worker
`;
  assert.deepEqual(samplesOf(top), [
    'host_cpu 0.75',
    'host_cpu_steal 0.05',
    'cpu_percent{pid=3331,command=nginx: worker} 99.9',
  ]);
  const averaged = `07:00:01      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
07:00:02       33      3331   90.00   10.00    0.00    3.00  100.00     1  nginx
Average:      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
Average:       33      3331   40.00   10.00    0.00    3.00   50.00     -  nginx
`;
  assert.deepEqual(samplesOf(averaged), [
    'cpu_percent{pid=3331,command=nginx} 50',
    'cpu_wait_percent{pid=3331,command=nginx} 3',
  ]);
});
