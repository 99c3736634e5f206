// A scenario's gateway in nginx's words.
//
// What differs: nginx from a distribution has no active health checks. When the scenario asks for them, a server that has failed
// `fall` times is left out for `interval`; otherwise `max_fails=0`, so that nginx does not leave any out on its own account.
// `proxy_next_upstream_timeout` bounds the whole request, as the scenario means it; `proxy_read_timeout` each wait.

import { type Duration, inMs, inSeconds } from '../../base.ts';
import type { PolicyName } from '../../scenario.ts';
import type { GatewaySettings } from './gateway-program.ts';

export interface NginxPlace {
  readonly host: string;
  readonly port: number;
  readonly statisticsPort: number;
  readonly folder: string;
  readonly accessLog: string;
  readonly errorLog: string;
  readonly pidFile: string;
  readonly connectionsMax: number;
}

/**
 * The lab's log format, by nginx's variables: `$msec` is when the line was written, which is the end of the request, in
 * seconds with milliseconds; `rt` the whole request; then who was asked (`ua`, several separated by `, ` after a retry), what
 * it answered (`us`), and how long its answer (`ut`), its connection (`uc`) and its header (`uh`) took, all in seconds. `$connection`
 * tells clients apart.
 */
export const nginxLogFormat =
  '$msec $remote_addr:$remote_port $connection "$request" $status $body_bytes_sent rt=$request_time' +
  ' ua="$upstream_addr" us="$upstream_status" ut="$upstream_response_time"' +
  ' uc="$upstream_connect_time" uh="$upstream_header_time"';

const methods: Readonly<Record<PolicyName, readonly string[]>> = {
  'round-robin': [],
  random: ['random;'],
  'least-request': ['least_conn;'],
};

const temporaryFolders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export function nginxConfiguration(settings: GatewaySettings, place: NginxPlace): string {
  const { service, retries, health, endpoints } = settings;
  const fitness =
    health === undefined
      ? 'max_fails=0'
      : `max_fails=${health.fall} fail_timeout=${Math.max(1, Math.round(inSeconds(health.interval)))}s`;
  const lines = [
    'daemon off;',
    // One process that serves: nothing to be left over, and its number is known.
    'master_process off;',
    `pid ${place.pidFile};`,
    // What stops it from working is news; what happened to single requests is not, and may be a line for each.
    'error_log stderr crit;',
    `error_log ${place.errorLog} warn;`,
    `worker_rlimit_nofile ${place.connectionsMax * 2};`,
    `events { worker_connections ${place.connectionsMax}; }`,
    'http {',
    `    log_format plimsoll '${nginxLogFormat}';`,
    `    access_log ${place.accessLog} plimsoll;`,
    ...temporaryFolders.map((name) => `    ${name}_temp_path ${place.folder}/${name};`),
    `    upstream ${service} {`,
    ...methods[settings.policy].map((line) => `        ${line}`),
    ...endpoints.map(({ id, host, port }) => `        server ${host}:${port} ${fitness}; # ${id}`),
    '        keepalive 1024;',
    '        keepalive_requests 1000000000;',
    '    }',
    '    server {',
    `        listen ${place.host}:${place.port} backlog=4096;`,
    '        keepalive_timeout 75s;',
    '        keepalive_requests 1000000000;',
    '        location / {',
    `            proxy_pass http://${service};`,
    '            proxy_http_version 1.1;',
    '            proxy_set_header Connection "";',
    `            proxy_connect_timeout ${milliseconds(settings.connectTimeout)};`,
    `            proxy_read_timeout ${milliseconds(settings.timeout)};`,
    `            proxy_send_timeout ${milliseconds(settings.timeout)};`,
    ...(retries === 0
      ? ['            proxy_next_upstream off;']
      : [
          '            proxy_next_upstream error timeout;',
          `            proxy_next_upstream_tries ${retries + 1};`,
          `            proxy_next_upstream_timeout ${milliseconds(settings.timeout)};`,
        ]),
    '        }',
    '    }',
    '    server {',
    `        listen ${place.host}:${place.statisticsPort};`,
    '        access_log off;',
    '        location = /stub_status { stub_status; }',
    '    }',
    '}',
  ];
  return `${lines.join('\n')}\n`;
}

/** nginx counts whole milliseconds, and 0 would mean at once. */
function milliseconds(duration: Duration): string {
  return `${Math.max(1, Math.round(inMs(duration)))}ms`;
}
