// Who gets the requests: the kinds of the cases in other clothes. Other programs, other numbers, other evidence, less of it; and
// beside each kind something that looks like it and is not.

import { describe, it } from 'node:test';
import { expectPattern, expectOther, matrix } from './testing/incident.ts';

describe('connection pinning', () => {
  it('shows in rates and connections over time', () => {
    expectPattern(
      'connection-pinning',
      `=== query.json
       ${matrix({
         'rps{pod="api-0"}': [410, 420, 415, 418],
         'rps{pod="api-1"}': [208, 205, 212, 207],
         'rps{pod="api-2"}': [0, 0, 0, 0],
         'rps{pod="api-3"}': [0, 0, 0, 0],
         'open_connections{pod="api-0"}': [4, 4, 4, 4],
         'open_connections{pod="api-1"}': [2, 2, 2, 2],
         'open_connections{pod="api-2"}': [0, 0, 0, 0],
         'open_connections{pod="api-3"}': [0, 0, 0, 0],
       })}`,
    );
  });

  it('shows in bytes where a layer-4 balancer counts no requests', () => {
    expectPattern(
      'connection-pinning',
      `=== lb.cfg
       defaults
           mode tcp
           timeout connect 5s
           timeout client 1h
           timeout server 1h
       frontend in
           bind :5432
           default_backend pool
       backend pool
           balance roundrobin
           server s1 10.1.0.1:5432 check
           server s2 10.1.0.2:5432 check
           server s3 10.1.0.3:5432 check
           server s4 10.1.0.4:5432 check
       === backends.csv
       server,connections,bytes
       s1,12,1204000000
       s2,11,1098000000
       s3,1,98000000
       s4,0,0`,
    );
  });

  it('is a table of pods', () => {
    expectPattern(
      'connection-pinning',
      `=== pods.csv
       pod,connections,requests,mean_ms,cpu
       orders-5d9c7f-aaaaa,20,200100,12,1.9
       orders-5d9c7f-bbbbb,18,179200,12,1.7
       orders-5d9c7f-ccccc,2,20050,12,0.2
       orders-5d9c7f-ddddd,0,0,,0.01`,
    );
  });

  it('is not a fleet that is even', () => {
    expectOther(
      ['connection-pinning', 'pick-first', 'pool-order-skew', 'slow-replica'],
      `=== pods.csv
       pod,connections,requests,mean_ms
       a-1,10,10010,12
       a-2,10,9990,12
       a-3,10,10030,12
       a-4,10,9970,12`,
    );
  });
});

describe('pool order', () => {
  it('shows in requests by connection, the oldest first', () => {
    expectPattern(
      'pool-order-skew',
      `=== connections.csv
       connection,target,age_s,requests
       1,10.0.0.1,3600,51200
       2,10.0.0.2,3590,30100
       3,10.0.0.3,3580,9800
       4,10.0.0.4,3570,2100
       5,10.0.0.1,3560,310
       6,10.0.0.2,3550,40
       7,10.0.0.3,3540,3
       8,10.0.0.4,3530,0`,
    );
  });

  it('shows in even connections and a known order', () => {
    expectPattern(
      'pool-order-skew',
      `=== scrape.prom
       # TYPE http_requests_total counter
       http_requests_total{pod="cart-0"} 90200
       http_requests_total{pod="cart-1"} 21800
       http_requests_total{pod="cart-2"} 4100
       http_requests_total{pod="cart-3"} 300
       # TYPE http_connections_open gauge
       http_connections_open{pod="cart-0"} 25
       http_connections_open{pod="cart-1"} 25
       http_connections_open{pod="cart-2"} 25
       http_connections_open{pod="cart-3"} 25
       === pool.json
       {"pool_max": 100, "pool_order": "oldest-first"}`,
    );
  });

  it('shows in even connections that are mostly free', () => {
    expectPattern(
      'pool-order-skew',
      `=== hosts.csv
       host,requests,connections,in_flight,mean_ms
       n1,80400,16,3,20
       n2,19900,16,1,20
       n3,2900,16,0,21
       n4,120,16,0,20`,
    );
  });
});

describe('round robin in step', () => {
  it('shows in counts in the order of the list', () => {
    expectPattern(
      'rr-synchronised-start',
      `=== endpoints.csv
       order,endpoint,requests
       0,e00,998
       1,e01,990
       2,e02,941
       3,e03,762
       4,e04,570
       5,e05,366
       6,e06,215
       7,e07,108
       8,e08,49
       9,e09,22
       10,e10,8
       11,e11,3
       12,e12,0
       13,e13,0
       14,e14,0
       15,e15,0
       === gateway.json
       {"load_balance": "round_robin", "worker_processes": 8, "replicas": 4}`,
    );
  });

  it('is no such thing under least-request', () => {
    expectOther(
      ['rr-synchronised-start'],
      `=== endpoints.csv
       order,endpoint,requests
       0,e00,998
       1,e01,990
       2,e02,941
       3,e03,762
       4,e04,570
       5,e05,366
       6,e06,215
       7,e07,108
       8,e08,49
       === gateway.json
       {"load_balance": "least_conn", "worker_processes": 8}`,
    );
  });

  it('locks a service that is called every second time', () => {
    const hosts = ['10.3.0.1:80', '10.3.0.2:80', '10.3.0.3:80', '10.3.0.4:80'];
    // One cursor over three services, each asked in turn: of four hosts every third, which reaches all; of two hosts …
    const rows = Array.from({ length: 90 }, (_, index) => {
      const service = ['auth', 'cart'][index % 2] ?? '';
      const upstream = service === 'auth' ? '10.2.0.9:80' : (hosts[index % 2 === 1 ? index % 4 : 0] ?? '');
      return JSON.stringify({
        time: new Date(1_770_000_000_000 + index * 250).toISOString(),
        route: service,
        service,
        upstream,
        status: 200,
        duration_ms: 9 + (index % 5),
      });
    });
    expectPattern(
      'rr-parity-lock',
      `=== gateway.jsonl
       ${rows.join('\n')}
       === registry.json
       ${JSON.stringify({ auth: ['10.2.0.9:80'], cart: hosts })}`,
    );
  });

  it('uses every second host of a list', () => {
    expectPattern(
      'rr-parity-lock',
      `=== hosts.csv
       order,host,health,requests
       0,a,healthy,5001
       1,b,healthy,0
       2,c,healthy,5003
       3,d,healthy,0
       4,e,healthy,4996
       5,f,healthy,0
       === lb.json
       {"policy": "round_robin"}`,
    );
  });

  it('gives the next one the turns of two that are out', () => {
    expectPattern(
      'rr-next-host-dogpile',
      `=== hosts.csv
       order,host,health,requests
       0,n1,healthy,4010
       1,n2,down,0
       2,n3,down,0
       3,n4,healthy,12005
       4,n5,healthy,3995`,
      ['n4'],
    );
  });

  it('is no dogpile when another than the neighbour is hot', () => {
    expectOther(
      ['rr-next-host-dogpile'],
      `=== hosts.csv
       order,host,health,requests
       0,n1,healthy,1000
       1,n2,down,0
       2,n3,healthy,1000
       3,n4,healthy,2000
       4,n5,healthy,1000`,
    );
  });
});

describe('pick first', () => {
  it('is a client log with one replica for everybody, the first of the list', () => {
    const rows = Array.from(
      { length: 60 },
      (_, index) =>
        `${new Date(1_770_000_000_000 + index * 1000).toISOString()} client=10.9.0.${index % 6} "GET /price HTTP/1.1" 200 rt=0.0${20 + (index % 9)} upstream=10.4.0.1:8080`,
    );
    expectPattern(
      'pick-first',
      `=== client.log
       ${rows.join('\n')}
       === registry.json
       {"price": ["10.4.0.1:8080", "10.4.0.2:8080", "10.4.0.3:8080"]}
       === nodes.csv
       node,cpu_percent
       10.4.0.1,97
       10.4.0.2,3
       10.4.0.3,2`,
      ['pick_first'],
    );
  });

  it('is all connections on one pod', () => {
    expectPattern(
      'pick-first',
      `=== scrape.prom
       # TYPE rpc_server_requests_total counter
       rpc_server_requests_total{pod="quote-0"} 0
       rpc_server_requests_total{pod="quote-1"} 88100
       rpc_server_requests_total{pod="quote-2"} 0
       # TYPE server_connections gauge
       server_connections{pod="quote-0"} 0
       server_connections{pod="quote-1"} 3
       server_connections{pod="quote-2"} 0`,
    );
  });

  it('is not accused when the others are out', () => {
    expectOther(
      ['pick-first'],
      `=== hosts.csv
       host,health,requests,connections
       a,healthy,9000,3
       b,unhealthy,0,0
       c,unhealthy,0,0`,
    );
  });

  it('is not accused when another pod has a share', () => {
    expectOther(
      ['pick-first'],
      `=== hosts.csv
       host,requests,connections
       a,9000,3
       b,2000,1
       c,0,0`,
    );
  });
});

describe('zones', () => {
  it('are counted by zone only', () => {
    expectPattern(
      'zone-imbalance',
      `=== zones.csv
       zone,targets,requests
       eu-1a,9,450100
       eu-1b,3,449800
       eu-1c,3,450300
       === attributes.json
       {"Attributes": [{"Key": "load_balancing.cross_zone.enabled", "Value": "false"}]}`,
    );
  });

  it('are not accused when the balancer crosses them', () => {
    expectOther(
      ['zone-imbalance'],
      `=== requests.prom
       # TYPE requests_total counter
       requests_total{target="a",zone="z1"} 1000
       requests_total{target="b",zone="z1"} 1010
       requests_total{target="c",zone="z2"} 2000
       === attributes.json
       {"Attributes": [{"Key": "load_balancing.cross_zone.enabled", "Value": "true"}]}`,
    );
  });
});

describe('state lost on a change', () => {
  it('shows in sessions before and after', () => {
    expectPattern(
      'lb-state-reset',
      `=== sessions-before.prom
       # TYPE sessions_open gauge
       sessions_open{server="w1"} 400
       sessions_open{server="w2"} 398
       sessions_open{server="w3"} 0
       === sessions-after.prom
       # TYPE sessions_open gauge
       sessions_open{server="w1"} 451
       sessions_open{server="w2"} 449
       sessions_open{server="w3"} 50
       === lb.json
       {"policy": "least_conn"}`,
    );
  });

  it('is not accused when the new one fills up first', () => {
    expectOther(
      ['lb-state-reset'],
      `=== sessions-before.prom
       # TYPE sessions_open gauge
       sessions_open{server="w1"} 400
       sessions_open{server="w2"} 398
       sessions_open{server="w3"} 0
       === sessions-after.prom
       # TYPE sessions_open gauge
       sessions_open{server="w1"} 400
       sessions_open{server="w2"} 398
       sessions_open{server="w3"} 151
       === lb.json
       {"policy": "least_conn"}`,
    );
  });
});
