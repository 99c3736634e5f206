// Who gets the requests, in incidents as others would write them down: other proxies, other names for the same numbers, other
// languages, something missing, and something beside it that has nothing to do with it.

import { describe, it } from 'node:test';
import { expectOther, expectPattern, matrix } from './testing/incident.ts';

describe('connection pinning', () => {
  it('is a mesh without a sidecar on one side, and a deploy of somebody else', () => {
    expectPattern(
      'connection-pinning',
      `=== kubectl-top.txt
       NAME                          CPU(cores)   MEMORY(bytes)
       ledger-7f6d9c9b4c-4gq2r       1480m        412Mi
       ledger-7f6d9c9b4c-8xk5d       1395m        398Mi
       ledger-7f6d9c9b4c-kk2vn       21m          201Mi
       ledger-7f6d9c9b4c-zt9wp       19m          199Mi
       === ledger.prom
       # HELP grpc_server_handled_total Total RPCs completed
       # TYPE grpc_server_handled_total counter
       grpc_server_handled_total{pod="ledger-7f6d9c9b4c-4gq2r",grpc_code="OK"} 1840021
       grpc_server_handled_total{pod="ledger-7f6d9c9b4c-8xk5d",grpc_code="OK"} 1711930
       grpc_server_handled_total{pod="ledger-7f6d9c9b4c-kk2vn",grpc_code="OK"} 14
       grpc_server_handled_total{pod="ledger-7f6d9c9b4c-zt9wp",grpc_code="OK"} 11
       # TYPE process_open_sockets gauge
       netty_server_connections_active{pod="ledger-7f6d9c9b4c-4gq2r"} 13
       netty_server_connections_active{pod="ledger-7f6d9c9b4c-8xk5d"} 12
       netty_server_connections_active{pod="ledger-7f6d9c9b4c-kk2vn"} 0
       netty_server_connections_active{pod="ledger-7f6d9c9b4c-zt9wp"} 0
       === svc.yaml
       apiVersion: v1
       kind: Service
       metadata: {name: ledger}
       spec: {type: ClusterIP, selector: {app: ledger}, ports: [{name: grpc, port: 9090, appProtocol: grpc}]}
       === events.jsonl
       {"ts":"2026-04-02T09:10:00Z","reason":"ScalingReplicaSet","message":"Scaled up replica set ledger-7f6d9c9b4c from 2 to 4"}
       {"ts":"2026-04-02T09:31:00Z","event":"deploy","service":"newsletter","version":"v112"}`,
    );
  });

  it('is a keep-alive pool of HAProxy in TCP mode, told by sessions and bytes', () => {
    expectPattern(
      'connection-pinning',
      `=== haproxy.cfg
       global
           maxconn 20000
       defaults
           mode tcp
           timeout connect 3s
           timeout client 8h
           timeout server 8h
       listen mqtt
           bind :1883
           balance roundrobin
           server n1 10.40.0.1:1883 check
           server n2 10.40.0.2:1883 check
           server n3 10.40.0.3:1883 check
       === show-stat.csv
       # pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,econ,eresp,status,weight,lastchg,type,algo,mode
       mqtt,FRONTEND,,,402,410,20000,411,980001000,91000000,,,OPEN,,,0,,tcp
       mqtt,n1,0,0,201,205,,206,501200000,46100000,0,0,UP,1,86400,2,,tcp
       mqtt,n2,0,0,200,204,,204,478700000,44800000,0,0,UP,1,86400,2,,tcp
       mqtt,n3,0,0,1,1,,1,2410000,221000,0,0,UP,1,610,2,,tcp
       mqtt,BACKEND,0,0,402,410,2000,411,980001000,91000000,0,0,UP,3,86400,1,roundrobin,tcp`,
    );
  });

  it('is not a fleet beside which another host has a processor', () => {
    expectOther(
      ['connection-pinning', 'pick-first'],
      `=== hosts.csv
       host,requests,connections,mean_ms
       a,1010,10,20
       b,990,10,21
       c,1004,10,20
       === batch.csv
       host,cpu_percent
       batch-1,99
       a,20
       b,21
       c,19`,
    );
  });

  it('is not a pod that is slower on its own', () => {
    expectOther(
      ['connection-pinning', 'pick-first'],
      `=== pods.csv
       pod,open_connections,requests_total,avg_latency_ms,cpu_cores
       feed-0,50,90110,21,0.4
       feed-1,50,89870,22,0.4
       feed-2,50,90045,310,0.4
       feed-3,50,90200,21,0.4`,
    );
  });
});

describe('pool order', () => {
  it('is an HTTP agent that hands out the free socket that was used last', () => {
    expectPattern(
      'pool-order-skew',
      `=== agent.json
       {"agent": {"keepAlive": true, "maxSockets": 64, "scheduling": "lifo"}, "upstream": "search.svc.cluster.local"}
       === search.prom
       # TYPE http_server_requests_total counter
       http_server_requests_total{pod="search-0"} 512044
       http_server_requests_total{pod="search-1"} 70311
       http_server_requests_total{pod="search-2"} 9021
       http_server_requests_total{pod="search-3"} 1207
       # TYPE http_server_connections gauge
       http_server_connections{pod="search-0"} 16
       http_server_connections{pod="search-1"} 16
       http_server_connections{pod="search-2"} 16
       http_server_connections{pod="search-3"} 16`,
    );
  });

  it('is a database client that begins at the front of its list each time', () => {
    expectPattern(
      'pool-order-skew',
      `=== pool-config.yaml
       pool:
         maxSize: 24
         checkout: oldest_first
       === replicas.csv
       replica,established_connections,queries_total,avg_query_ms,cpu_pct
       ro-1,8,2210400,1.4,91
       ro-2,8,301200,1.4,14
       ro-3,8,20110,1.5,2`,
    );
  });

  it('is connections even and requests not, without a word on the pool', () => {
    expectPattern(
      'pool-order-skew',
      `=== ss-proxy.txt
       State  Recv-Q Send-Q Local Address:Port    Peer Address:Port
       ESTAB  0      0      10.2.0.9:50101       10.2.1.1:8080
       ESTAB  0      0      10.2.0.9:50102       10.2.1.2:8080
       ESTAB  0      0      10.2.0.9:50103       10.2.1.3:8080
       ESTAB  0      0      10.2.0.9:50104       10.2.1.1:8080
       ESTAB  0      0      10.2.0.9:50105       10.2.1.2:8080
       ESTAB  0      0      10.2.0.9:50106       10.2.1.3:8080
       === requests.csv
       upstream,requests,mean_ms
       10.2.1.1:8080,88012,11
       10.2.1.2:8080,7401,11
       10.2.1.3:8080,388,12`,
    );
  });

  it('is not a pool whose requests are as even as its connections', () => {
    expectOther(
      ['pool-order-skew', 'connection-pinning'],
      `=== pool.json
       {"pool_max": 30, "pool_order": "lifo"}
       === replicas.csv
       replica,connections,queries
       ro-1,10,100200
       ro-2,10,99100
       ro-3,10,99800`,
    );
  });
});

describe('round robin in step', () => {
  it('is a fleet of sidecars that restart at every push', () => {
    const counts = [611, 600, 597, 590, 420, 233, 120, 41, 12, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    expectPattern(
      'rr-synchronised-start',
      `=== stats-by-endpoint.csv
       list_position,pod_ip,rq_total,avg_ms
       ${counts.map((count, index) => `${index},10.50.1.${index + 10},${count},${count === 0 ? '' : 14 + (index % 2)}`).join('\n')}
       === sidecars.json
       {"proxies": 40, "lb_policy": "ROUND_ROBIN", "concurrency": 4}
       === pushes.jsonl
       {"ts":"2026-03-09T10:00:00Z","event":"endpoints update","service":"inventory"}
       {"ts":"2026-03-09T10:00:30Z","event":"endpoints update","service":"inventory"}
       {"ts":"2026-03-09T10:01:00Z","event":"endpoints update","service":"inventory"}`,
    );
  });

  it('is an access log of home-made JSON, and a CPU spike elsewhere', () => {
    const list = Array.from({ length: 40 }, (_, index) => `10.60.0.${index + 1}:7000`);
    const rows: string[] = [];
    let at = 1_771_000_000_000;
    for (let sync = 0; sync < 4; sync++) {
      for (let turn = 0; turn < 7; turn++) {
        for (let worker = 0; worker < 24; worker++) {
          if ((worker * 7 + turn * 3 + sync) % 10 < 2 + turn) continue;
          at += 20;
          rows.push(
            JSON.stringify({
              '@timestamp': new Date(at).toISOString(),
              verb: 'GET',
              uri: '/quote',
              code: 200,
              took_ms: 12 + ((worker + turn) % 5),
              backend: list[turn],
            }),
          );
        }
      }
      at += 20_000;
    }
    const syncs = [0, 1, 2, 3].map((index) =>
      JSON.stringify({ ts: new Date(1_771_000_000_000 + index * 21_500).toISOString(), reason: 'BackendSync' }),
    );
    expectPattern(
      'rr-synchronised-start',
      `=== gw.jsonl
       ${rows.join('\n')}
       === endpoints.json
       ${JSON.stringify({ quote: list })}
       === gateway.yaml
       balancer: round_robin
       workers: 24
       === syncs.jsonl
       ${syncs.join('\n')}
       === host.csv
       host,cpu_percent
       batch-7,99
       gw-1,22`,
    );
  });

  it('is not a list whose first is simply the biggest by weight', () => {
    expectOther(
      ['rr-synchronised-start'],
      `=== endpoints.csv
       order,endpoint,weight,requests
       0,a,4,4000
       1,b,2,2001
       2,c,1,1000
       3,d,1,998`,
    );
  });
});

describe('a cursor in step with its list', () => {
  it('is two calls to the same balancer for each request', () => {
    const hosts = ['10.7.0.1:8080', '10.7.0.2:8080'];
    const rows = Array.from({ length: 120 }, (_, index) => {
      const at = new Date(1_771_500_000_000 + index * 100).toISOString();
      const service = index % 2 === 0 ? 'auth' : 'orders';
      const upstream = service === 'auth' ? hosts[0] : hosts[1];
      return `{"timestamp":"${at}","service":"${service}","route":"/${service}","upstream":"${upstream}","status":200,"duration_ms":${8 + (index % 4)}}`;
    });
    expectPattern(
      'rr-parity-lock',
      `=== mesh.jsonl
       ${rows.join('\n')}
       === registry.json
       {"auth": ["10.7.0.1:8080", "10.7.0.2:8080"], "orders": ["10.7.0.1:8080", "10.7.0.2:8080"]}
       === gateway.json
       {"load_balancer": "round-robin", "shared_cursor": true}`,
    );
  });

  it('is every third host of six, since each request asks three times', () => {
    expectPattern(
      'rr-parity-lock',
      `=== backends.csv
       position,backend,state,served
       0,b0,up,0
       1,b1,up,7702
       2,b2,up,0
       3,b3,up,0
       4,b4,up,7699
       5,b5,up,0
       === proxy.json
       {"algorithm": "roundrobin", "health_check_uses_cursor": true}`,
    );
  });

  it('is not half a list that is down', () => {
    expectOther(
      ['rr-parity-lock'],
      `=== backends.csv
       position,backend,state,served
       0,b0,up,7702
       1,b1,down,0
       2,b2,up,7710
       3,b3,down,0`,
    );
  });
});

describe('the neighbour of one that is out', () => {
  it('has two turns, as Envoy tells of its hosts', () => {
    expectPattern(
      'rr-next-host-dogpile',
      `=== clusters.txt
       cart::default_priority::max_connections::1024
       cart::10.11.0.1:80::rq_total::25010
       cart::10.11.0.1:80::health_flags::healthy
       cart::10.11.0.2:80::rq_total::0
       cart::10.11.0.2:80::health_flags::/failed_active_hc
       cart::10.11.0.3:80::rq_total::50022
       cart::10.11.0.3:80::health_flags::healthy
       cart::10.11.0.4:80::rq_total::24989
       cart::10.11.0.4:80::health_flags::healthy
       cart::10.11.0.5:80::rq_total::25003
       cart::10.11.0.5:80::health_flags::healthy`,
      ['10.11.0.3'],
    );
  });

  it('has two turns, as a client writes in its own words', () => {
    const hosts = ['red', 'green', 'blue', 'white'];
    const rows = Array.from({ length: 240 }, (_, index) => {
      const turn = hosts[index % 4];
      const target = turn === 'green' ? 'blue' : turn;
      return `${new Date(1_771_600_000_000 + index * 50).toISOString()} level=info msg="call" target=${target} status=200 elapsed=0.0${10 + (index % 7)}`;
    });
    expectPattern(
      'rr-next-host-dogpile',
      `=== client.log
       ${rows.join('\n')}
       === hosts.json
       {"hosts": [{"name": "red", "health": "healthy"}, {"name": "green", "health": "unhealthy"}, {"name": "blue", "health": "healthy"}, {"name": "white", "health": "healthy"}], "policy": "round_robin"}`,
      ['blue'],
    );
  });

  it('is not a survivor of two that has everything', () => {
    expectOther(
      ['rr-next-host-dogpile'],
      `=== hosts.csv
       order,host,health,requests
       0,a,healthy,5000
       1,b,down,0`,
    );
  });
});

describe('pick first', () => {
  it('is a Spring client and a registry, in an incident that somebody wrote down in German', () => {
    expectPattern(
      'pick-first',
      `=== notizen.yaml
       plimsoll_notes: 1
       about: Zeitüberschreitungen zur Spitzenzeit; mehr Knoten änderten nichts.
       registry:
         pricing: ["10.3.1.7:8080", "10.3.1.8:8080", "10.3.1.9:8080"]
       counts:
         - name: requests
           by: endpoint
           values: { "10.3.1.7:8080": 411020, "10.3.1.8:8080": 12, "10.3.1.9:8080": 9 }
         - name: cpu_percent
           by: endpoint
           values: { "10.3.1.7:8080": 97, "10.3.1.8:8080": 3, "10.3.1.9:8080": 3 }
       settings:
         - { program: preis-client, scope: client of pricing, set: { balance.policy: pick-first } }`,
    );
  });

  it('is grpc-go without a service config, in the rates of a dashboard', () => {
    expectPattern(
      'pick-first',
      `=== query.json
       ${matrix({
         'grpc_server_handled_per_second{instance="reco-0:9000"}': [0, 0, 0, 0, 0],
         'grpc_server_handled_per_second{instance="reco-1:9000"}': [812, 820, 799, 815, 811],
         'grpc_server_handled_per_second{instance="reco-2:9000"}': [0, 0, 0, 0, 0],
         'open_connections{instance="reco-0:9000"}': [0, 0, 0, 0, 0],
         'open_connections{instance="reco-1:9000"}': [1, 1, 1, 1, 1],
         'open_connections{instance="reco-2:9000"}': [0, 0, 0, 0, 0],
       })}
       === client.yaml
       apiVersion: apps/v1
       kind: Deployment
       metadata: {name: web}
       spec:
         replicas: 1
         selector: {matchLabels: {app: web}}
         template:
           metadata: {labels: {app: web}, annotations: {runtime: "go1.24 grpc-go"}}
           spec: {containers: [{name: web, image: "example.test/web:4", env: [{name: RECO_ADDR, value: "dns:///reco:9000"}]}]}`,
    );
  });

  it('is not a leader that must get all writes', () => {
    expectOther(
      ['pick-first'],
      `=== nodes.csv
       node,role,requests,connections
       db-0,leader,90400,41
       db-1,follower,30100,22
       db-2,follower,29800,20`,
    );
  });
});

describe('zones', () => {
  it('are unequal under a balancer of Google’s kind that keeps to the nearest', () => {
    expectPattern(
      'zone-imbalance',
      `=== targets.csv
       instance,zone,requests_per_s,cpu_pct
       vm-a1,europe-west1-b,420,88
       vm-a2,europe-west1-b,418,87
       vm-b1,europe-west1-c,140,29
       vm-b2,europe-west1-c,139,28
       vm-b3,europe-west1-c,141,29
       vm-b4,europe-west1-c,140,30
       vm-b5,europe-west1-c,139,29
       vm-b6,europe-west1-c,141,29
       === lb.yaml
       balancer:
         policy: round_robin
         cross_zone: false`,
    );
  });

  it('are unequal under Envoy’s zone-aware routing', () => {
    expectPattern(
      'zone-imbalance',
      `=== clusters.txt
       api::10.20.1.1:80::rq_total::61000
       api::10.20.1.1:80::zone::az1
       api::10.20.1.1:80::health_flags::healthy
       api::10.20.2.1:80::rq_total::20300
       api::10.20.2.1:80::zone::az2
       api::10.20.2.1:80::health_flags::healthy
       api::10.20.2.2:80::rq_total::20200
       api::10.20.2.2:80::zone::az2
       api::10.20.2.2:80::health_flags::healthy
       api::10.20.2.3:80::rq_total::20400
       api::10.20.2.3:80::zone::az2
       api::10.20.2.3:80::health_flags::healthy
       === stats.txt
       cluster.api.lb_zone_routing_all_directly: 121000
       cluster.api.lb_zone_routing_cross_zone: 0
       cluster.api.lb_zone_routing_sampled: 0
       cluster.api.membership_healthy: 4
       cluster.api.membership_total: 4`,
    );
  });

  it('are not to blame when one machine of a zone is hot and its neighbour is not', () => {
    expectOther(
      ['zone-imbalance'],
      `=== targets.csv
       instance,zone,requests
       a1,z1,100
       a2,z1,4000
       b1,z2,2000
       b2,z2,2100`,
    );
  });
});

describe('a balancer that forgets', () => {
  it('shows after each reload of HAProxy', () => {
    expectPattern(
      'lb-state-reset',
      `=== before.csv
       # pxname,svname,scur,smax,stot,status,weight,type,algo,mode
       ws,w1,300,310,4000,UP,1,2,,http
       ws,w2,298,309,3990,UP,1,2,,http
       ws,w3,4,9,20,UP,1,2,,http
       ws,BACKEND,602,628,8010,UP,3,1,leastconn,http
       === after.csv
       # pxname,svname,scur,smax,stot,status,weight,type,algo,mode
       ws,w1,340,340,4040,UP,1,2,,http
       ws,w2,338,338,4030,UP,1,2,,http
       ws,w3,44,44,60,UP,1,2,,http
       ws,BACKEND,722,722,8130,UP,3,1,leastconn,http`,
    );
  });

  it('is told in notes', () => {
    expectPattern(
      'lb-state-reset',
      `=== notes.yaml
       plimsoll_notes: 1
       settings:
         - { program: edge, scope: upstream chat, set: { balance.policy: leastconn, balance.state-kept: false } }
       events:
         - { at: 2026-02-02T10:00:00Z, event: config-change, subject: upstream chat }
       counts:
         - { name: active_connections, by: server, values: { chat-1: 900, chat-2: 905, chat-3: 10 } }
         - { name: active_connections, by: server, values: { chat-1: 1000, chat-2: 1004, chat-3: 110 } }`,
    );
  });
});

describe('processes that share a socket', () => {
  it('are eight workers of a Node cluster, one of them at its limit', () => {
    expectPattern(
      'accept-imbalance',
      `=== pidstat.txt
       Linux 6.1.0 (edge-3) 	03/11/2026 	_x86_64_	(8 CPU)

       10:00:01      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
       10:00:02     1000      2101   91.00    8.00    0.00    0.00   99.00     1  node-worker
       10:00:02     1000      2102    7.00    1.00    0.00    0.00    8.00     2  node-worker
       10:00:02     1000      2103    2.00    0.00    0.00    0.00    2.00     3  node-worker
       10:00:02     1000      2104    0.00    0.00    0.00    0.00    0.00     4  node-worker
       === workers.csv
       pid,connections
       2101,18100
       2102,1200
       2103,240
       2104,9
       === server.json
       {"cluster_workers": 4, "reuse_port": false}`,
    );
  });

  it('are Apache children in the order in which they sleep, and nobody waits', () => {
    expectPattern(
      'benign-accept-order',
      `=== children.csv
       child,requests,busy,cpu_percent
       1,20,0,0.1
       2,51,0,0.2
       3,190,0,0.8
       4,900,0,3
       5,7200,1,17
       === host.prom
       # TYPE node_load1 gauge
       node_load1 0.31
       # TYPE listen_queue gauge
       listen_queue 0`,
    );
  });
});

describe('a replica that fails fast', () => {
  it('is the favourite of a balancer that counts, in a table', () => {
    expectPattern(
      'fast-fail-blackhole',
      `=== upstreams.csv
       upstream,policy,requests,http_5xx,p50_ms,cpu_pct
       geo-1,least_request,10100,4,91,64
       geo-2,least_request,9987,6,90,63
       geo-3,least_request,61200,61190,1.2,2
       geo-4,least_request,10020,2,92,66`,
      ['geo-3'],
    );
  });

  it('is a Traefik log, with a deploy of another service beside it', () => {
    const rows = Array.from({ length: 500 }, (_, index) => {
      const bad = index % 10 < 7;
      const host = bad ? 'http://10.70.0.9:8080' : `http://10.70.0.${1 + (index % 3)}:8080`;
      return JSON.stringify({
        ClientAddr: `198.51.100.${index % 9}:4000`,
        DownstreamStatus: bad ? 500 : 200,
        Duration: bad ? 1_100_000 : 80_000_000 + (index % 9) * 1_000_000,
        OriginDuration: bad ? 1_000_000 : 79_000_000,
        OriginStatus: bad ? 500 : 200,
        RequestMethod: 'GET',
        RequestPath: '/thumb',
        ServiceName: 'thumb@kubernetes',
        ServiceURL: host,
        StartUTC: new Date(1_771_700_000_000 + index * 30).toISOString(),
        level: 'info',
        msg: '',
      });
    });
    expectPattern(
      'fast-fail-blackhole',
      `=== access.json
       ${rows.join('\n')}
       === deploys.csv
       time,service,version
       ${new Date(1_771_700_001_000).toISOString()},billing,88
       === traefik.yaml
       plimsoll_notes: 1
       settings:
         - { program: traefik, scope: service thumb, set: { balance.policy: least-request } }`,
      ['10.70.0.9'],
    );
  });

  it('is not a replica with errors and no more than its share', () => {
    expectOther(
      ['fast-fail-blackhole'],
      `=== upstreams.csv
       upstream,requests,http_5xx,p50_ms
       geo-1,10100,4,91
       geo-2,9987,6,90
       geo-3,10050,900,92
       geo-4,10020,2,92`,
    );
  });
});
