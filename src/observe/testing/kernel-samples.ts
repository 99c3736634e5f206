// Small examples of what a kernel and the tools around it print, in our own words.

export const kernelSamples: Readonly<Record<string, string>> = {
  'answer of a name server': `; <<>> DiG 9.18.24 <<>> lb.example
;; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 7
;; QUESTION SECTION:
;lb.example.			IN	A

;; ANSWER SECTION:
lb.example.		60	IN	A	192.0.2.31
lb.example.		60	IN	A	192.0.2.32

;; Query time: 5003 msec
`,
  vmstat: `procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 9  0      0 123456  20000 300000    0    0     1     2  100  200 71 20  2  0  7
11  1      0 123456  20000 300000    0    0     1     2  100  200 70 20  2  0  8
`,
  'devices by the second': `Linux 6.1.0 (web-1) 	04/02/2026 	_x86_64_	(4 CPU)

07:00:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil
07:00:11         eth0  81000.00  90000.00    100.00    200.00      0.00      0.00      0.00     99.00
`,
  'counts of sockets': `Total: 6211
TCP:   6002 (estab 310, closed 2824, orphaned 4, timewait 2821)

Transport Total     IP        IPv6
TCP	  3178      3100      78
CLOSE-WAIT 7
  peer 10.9.0.20:8443 count 2823
`,
  'list of sockets': `# 2026-04-02T07:00:00Z
State   Recv-Q  Send-Q  Local Address:Port  Peer Address:Port
LISTEN  129     128     0.0.0.0:8080        0.0.0.0:*
ESTAB   0       0       10.9.0.1:40000      10.9.0.20:80
	 cubic wscale:7,7 rto:204 rtt:0.5/0.25 cwnd:10 retrans:0/3
ESTAB   0       0       10.9.0.1:40001      10.9.0.20:80
# 2026-04-02T07:00:30Z
State   Recv-Q  Send-Q  Local Address:Port  Peer Address:Port
LISTEN  0       128     0.0.0.0:8080        0.0.0.0:*
TIME-WAIT 0     0       10.9.0.1:40000      10.9.0.20:80
`,
  'kernel network counters': `TcpExt: SyncookiesSent ListenOverflows ListenDrops
TcpExt: 0 3378 3380
Tcp: ActiveOpens CurrEstab RetransSegs
Tcp: 100 31 12
sockets: used 290
TCP: inuse 5 orphan 0 tw 2821 alloc 7 mem 1
`,
  'kernel parameters': `net.core.somaxconn = 4096
net.ipv4.ip_local_port_range = 32768	60999
net.ipv4.tcp_tw_reuse = 2
net.netfilter.nf_conntrack_count = 6553
`,
  'limits of a process': `Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max open files            1024                 4096                 files
Max processes             63381                63381                processes
`,
  'kernel log': `[88123.100000] nf_conntrack: nf_conntrack: table full, dropping packet
[88124.250000] TCP: request_sock_TCP: Possible SYN flooding on port 8080. Sending cookies.
[88125.000000] Out of memory: Killed process 4711 (java) total-vm:4000kB
[Thu Apr  2 07:00:00 2026] eth0: renamed from veth1
`,
  'connection tracking': `cpu=0 found=15 invalid=0 insert=0 insert_failed=120 drop=121 early_drop=0 error=0 search_restart=4
cpu=1 found=11 invalid=0 insert=0 insert_failed=3 drop=3 early_drop=0 error=0 search_restart=1
tcp      6 431999 ESTABLISHED src=10.9.0.1 dst=10.9.0.2 sport=40000 dport=443 src=10.9.0.2 dst=10.9.0.1 sport=443 dport=40000 [ASSURED] mark=0 use=1
udp      17 29 src=10.9.0.1 dst=10.9.0.3 sport=40000 dport=53 src=10.9.0.3 dst=10.9.0.1 sport=53 dport=40000 mark=0 use=1
`,
  'control group statistics': `==> /sys/fs/cgroup/web/cpu.stat <==
usage_usec 900000000
nr_periods 3000
nr_throttled 930
throttled_usec 52100000
==> /sys/fs/cgroup/web/cpu.max <==
20000 100000
==> /proc/pressure/cpu <==
some avg10=1.50 avg60=0.10 avg300=0.05 total=12345000
`,
  'kernel processor time': `cpu  4705 356 584 3699 23 23 0 12 0 0
cpu0 4705 356 584 3699 23 23 0 12 0 0
intr 33 0 1
ctxt 1990473
procs_running 1
`,
  'resolver configuration': `# written by hand
nameserver 10.9.0.10
search default.svc.example svc.example
options ndots:5 single-request
`,
  'processor time by process': `Linux 6.1.0 (host) 	04/02/26 	_x86_64_	(2 CPU)

07:00:01      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
07:00:02       33      3331   90.00   10.00    0.00    3.00  100.00     1  nginx
07:00:02       33      3332    2.00    0.50    0.00    0.00    2.50     0  nginx
`,
  'curl times': `     time_namelookup:  0.022099s
          time_total:  0.029399s
----------
     time_namelookup:  2.505759s
          time_total:  2.513059s
`,
  'HAProxy show activity': `thread_id: 0 (0 1)
date_now: 1775113200.123456
ctxsw: 1100 [ 600 500 ]
loops: 521 [ 260 261 ]
wake_tasks: 30 [ 10 20 ]
avg_loop_us: 6700 [ 6650 6750 ]
`,
};
