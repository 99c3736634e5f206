// A scenario's gateway in HAProxy's words.
//
// What differs: `timeout server` counts from the last byte and for each try, where the scenario means the whole request.
// Retries go to another server at once (`redispatch 1`), and are made where no answer had begun, as any proxy may.

import { inMs, type Duration } from '../../base.ts';
import type { PolicyName } from '../../scenario.ts';
import type { GatewaySettings } from './gateway-program.ts';

export interface HaproxyPlace {
  readonly host: string;
  readonly port: number;
  readonly statisticsPort: number;
  readonly connectionsMax: number;
}

const algorithms: Readonly<Record<PolicyName, string>> = {
  'round-robin': 'roundrobin',
  // With two draws it would take the less loaded of them, which is another policy.
  random: 'random(1)',
  'least-request': 'leastconn',
};

export function haproxyConfiguration(settings: GatewaySettings, place: HaproxyPlace): string {
  const { service, retries, health } = settings;
  const check =
    health === undefined ? '' : ` check inter ${milliseconds(health.interval)} fall ${health.fall} rise ${health.rise}`;
  const lines = [
    'global',
    `    maxconn ${place.connectionsMax}`,
    '    nbthread 1',
    // Otherwise two processes may listen on one port and share its connections.
    '    noreuseport',
    '    log stdout format raw local0',
    `    stats socket ipv4@${place.host}:${place.statisticsPort} level admin`,
    '',
    'defaults',
    '    mode http',
    '    log global',
    '    option httplog',
    '    http-reuse always',
    `    retries ${retries}`,
    ...(retries === 0 ? [] : ['    option redispatch 1', '    retry-on conn-failure empty-response']),
    `    timeout connect ${milliseconds(settings.connectTimeout)}`,
    `    timeout server ${milliseconds(settings.timeout)}`,
    `    timeout queue ${milliseconds(settings.timeout)}`,
    '    timeout client 75s',
    '    timeout http-keep-alive 75s',
    ...(health === undefined ? [] : [`    timeout check ${milliseconds(health.timeout)}`]),
    '',
    'frontend gateway',
    `    bind ${place.host}:${place.port}`,
    `    default_backend ${service}`,
    '',
    `backend ${service}`,
    `    balance ${algorithms[settings.policy]}`,
    ...(health === undefined ? [] : [`    option httpchk GET ${health.path}`, '    http-check expect status 200']),
    ...settings.endpoints.map(({ id, host, port }) => `    server ${id} ${host}:${port}${check}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** HAProxy counts whole milliseconds, and 0 would mean for ever. */
function milliseconds(duration: Duration): string {
  return `${Math.max(1, Math.round(inMs(duration)))}ms`;
}
