// The proxies that are compared, each as its makers would set it up for the same work: one thread, least request over four
// backends, connections kept on both sides, the client's address passed on, no access log.

import type { ChildProcess } from 'node:child_process';
import { type Site, backendPorts, programPath, proxyCore, proxyPort, tlsPort, versionOf } from './site.ts';
import { temporaryFolders } from './backend.ts';

export interface Proxy {
  readonly name: string;
  readonly version: string;
  start(site: Site): ChildProcess;
}

/** Those that are here, and in one line each why the others are not. */
export function proxiesHere(): { readonly here: readonly Proxy[]; readonly missing: readonly string[] } {
  const all = [nginx(), haproxy(), envoy(), caddy(), ours('node'), ours('uring')];
  return {
    here: all.filter((proxy) => typeof proxy !== 'string'),
    missing: all.filter((proxy) => typeof proxy === 'string'),
  };
}

function nginx(): Proxy | string {
  const program = programPath('nginx');
  if (program === undefined) return 'nginx is not on the path: left out';
  return {
    name: 'nginx',
    version: versionOf([program, '-v'], /nginx\/(\S+)/),
    start: (site) => {
      const servers = backendPorts.map((port) => `server 127.0.0.1:${port};`).join(' ');
      const file = site.write(
        'proxy.conf',
        `daemon off; master_process off; pid ${site.folder}/proxy.pid; error_log stderr crit; worker_rlimit_nofile 8192;
         events { worker_connections 4096; }
         http { access_log off; ${temporaryFolders(site.folder)} keepalive_requests 100000000;
           upstream api { least_conn; ${servers} keepalive 256; keepalive_requests 100000000; }
           server { listen 127.0.0.1:${proxyPort} backlog=4096; listen 127.0.0.1:${tlsPort} ssl backlog=4096;
             ssl_certificate ${site.folder}/cert.pem; ssl_certificate_key ${site.folder}/key.pem;
             location / { proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection "";
               proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; } } }`,
      );
      return site.start(proxyCore, [program, '-p', site.folder, '-c', file]);
    },
  };
}

function haproxy(): Proxy | string {
  const program = programPath('haproxy');
  if (program === undefined) return 'haproxy is not on the path: left out';
  return {
    name: 'HAProxy',
    version: versionOf([program, '-v'], /version (\d+(?:\.\d+)+)/),
    start: (site) => {
      const servers = backendPorts.map((port, index) => `  server s${index} 127.0.0.1:${port}`).join('\n');
      const file = site.write(
        'haproxy.cfg',
        `global\n  nbthread 1\n  maxconn 8192\ndefaults\n  mode http\n  timeout connect 1s\n  timeout client 30s\n  timeout server 30s\n` +
          `  option forwardfor\n  http-reuse always\nfrontend in\n  bind 127.0.0.1:${proxyPort}\n` +
          `  bind 127.0.0.1:${tlsPort} ssl crt ${site.folder}/both.pem\n  default_backend api\n` +
          `backend api\n  balance leastconn\n${servers}\n`,
      );
      return site.start(proxyCore, [program, '-db', '-f', file]);
    },
  };
}

function envoy(): Proxy | string {
  const program = process.env['PLIMSOLL_ENVOY'] ?? programPath('envoy');
  if (program === undefined) return 'Envoy is neither in PLIMSOLL_ENVOY nor on the path: left out';
  return {
    name: 'Envoy',
    version: versionOf([program, '--version'], /(\d+\.\d+\.\d+)\//),
    start: (site) => {
      const file = site.write('envoy.json', JSON.stringify(envoyBootstrap(site)));
      const quiet = ['--concurrency', '1', '--disable-hot-restart', '--log-level', 'error'];
      return site.start(proxyCore, [program, '-c', file, ...quiet]);
    },
  };
}

function envoyBootstrap(site: Site): unknown {
  const type = (name: string): string => `type.googleapis.com/envoy.extensions.${name}`;
  const address = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
  const manager = {
    '@type': type('filters.network.http_connection_manager.v3.HttpConnectionManager'),
    stat_prefix: 'in',
    use_remote_address: true,
    route_config: {
      virtual_hosts: [{ name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster: 'api' } }] }],
    },
    http_filters: [{ name: 'router', typed_config: { '@type': type('filters.http.router.v3.Router') } }],
  };
  const filters = [{ name: 'http', typed_config: manager }];
  const tls = {
    name: 'tls',
    typed_config: {
      '@type': type('transport_sockets.tls.v3.DownstreamTlsContext'),
      common_tls_context: {
        tls_certificates: [
          {
            certificate_chain: { filename: `${site.folder}/cert.pem` },
            private_key: { filename: `${site.folder}/key.pem` },
          },
        ],
      },
    },
  };
  const endpoints = backendPorts.map((port) => ({ endpoint: { address: address(port) } }));
  return {
    static_resources: {
      listeners: [
        { name: 'in', address: address(proxyPort), filter_chains: [{ filters }] },
        { name: 'tls', address: address(tlsPort), filter_chains: [{ filters, transport_socket: tls }] },
      ],
      clusters: [
        {
          name: 'api',
          type: 'STATIC',
          lb_policy: 'LEAST_REQUEST',
          load_assignment: { cluster_name: 'api', endpoints: [{ lb_endpoints: endpoints }] },
        },
      ],
    },
  };
}

function caddy(): Proxy | string {
  const program = programPath('caddy');
  if (program === undefined) return 'caddy is not on the path: left out';
  return {
    name: 'Caddy',
    version: versionOf([program, 'build-info'], /caddy\/v2\s+v(\d+\.\d+\.\d+)/),
    start: (site) => {
      const proxy = {
        handler: 'reverse_proxy',
        upstreams: backendPorts.map((port) => ({ dial: `127.0.0.1:${port}` })),
        load_balancing: { selection_policy: { policy: 'least_conn' } },
        transport: { protocol: 'http', keep_alive: { max_idle_conns_per_host: 256 } },
      };
      const server = {
        routes: [{ handle: [proxy] }],
        automatic_https: { disable: true },
      };
      const certificates = [{ certificate: `${site.folder}/cert.pem`, key: `${site.folder}/key.pem` }];
      const file = site.write(
        'caddy.json',
        JSON.stringify({
          admin: { disabled: true, config: { persist: false } },
          logging: { logs: { default: { level: 'ERROR' } } },
          apps: {
            http: {
              servers: {
                plain: { ...server, listen: [`127.0.0.1:${proxyPort}`] },
                tls: {
                  ...server,
                  listen: [`127.0.0.1:${tlsPort}`],
                  tls_connection_policies: [{ default_sni: 'shop.test' }],
                },
              },
            },
            tls: { certificates: { load_files: certificates } },
          },
        }),
      );
      const environment = {
        GOMAXPROCS: '1',
        HOME: site.folder,
        XDG_DATA_HOME: site.folder,
        XDG_CONFIG_HOME: site.folder,
      };
      return site.start(proxyCore, [program, 'run', '--config', file], environment);
    },
  };
}

function ours(engine: 'node' | 'uring'): Proxy {
  return {
    name: engine === 'node' ? 'Plimsoll on node' : 'Plimsoll on io_uring',
    version: process.version,
    start: (site) => startOurs(site, ourConfiguration(engine, site)),
  };
}

function ourConfiguration(engine: 'node' | 'uring', site: Site): object {
  const endpoints = backendPorts.map((port, index) => ({ id: `s${index}`, host: '127.0.0.1', port }));
  const certificates = [{ cert_file: `${site.folder}/cert.pem`, key_file: `${site.folder}/key.pem` }];
  const host = '127.0.0.1';
  const listen = [
    { host, port: proxyPort },
    { host, port: tlsPort, tls: { certificates } },
  ];
  return { listen, engine, policy: 'least-request', endpoints, timeout_ns: 30e9 };
}

/** Our gateway as `plimsoll gateway` starts it, with Node's own options passed on (`--cpu-prof`). */
export function startOurs(site: Site, configuration: object, name = 'gateway.json'): ChildProcess {
  const file = site.write(name, JSON.stringify(configuration));
  const main = new URL('../process.ts', import.meta.url).href;
  const code = `import { runGatewayProcess } from ${JSON.stringify(main)}; process.exitCode = await runGatewayProcess(${JSON.stringify(file)});`;
  const options = ['--disable-warning=ExperimentalWarning', '--input-type=module', ...process.execArgv];
  return site.start(proxyCore, [process.execPath, ...options, '-e', code]);
}
