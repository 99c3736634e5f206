// What tracers write beside a span, by the names of OpenTelemetry's conventions, new and old, and of those before it.

import { isObject } from '../json-tree.ts';
import { parseNumber } from '../quantities.ts';
import type { Span, SpanKind } from './spans.ts';

export type Attributes = ReadonlyMap<string, string>;

const replicaKeys = ['service.instance.id', 'k8s.pod.name', 'container.id', 'host.name', 'hostname', 'ip'];
const peerKeys = [
  'server.address',
  'net.peer.name',
  'network.peer.address',
  'net.peer.ip',
  'peer.address',
  'peer.service',
  'peer.hostname',
  'db.system.name',
  'db.system',
  'rpc.service',
];
const portKeys = ['server.port', 'net.peer.port', 'network.peer.port', 'peer.port'];
const statusKeys = ['http.response.status_code', 'http.status_code', 'status_code', 'http.status'];
const errorKeys = ['error.type', 'exception.type', 'otel.status_description', 'error.message', 'grpc.error_name'];

export function replicaIn(attributes: Attributes): string | undefined {
  return firstIn(attributes, replicaKeys);
}

export function peerIn(attributes: Attributes): string | undefined {
  const host = firstIn(attributes, peerKeys);
  const port = firstIn(attributes, portKeys);
  return host === undefined || port === undefined || host.includes(':') ? host : `${host}:${port}`;
}

/** −1: none. */
export function statusIn(attributes: Attributes): number {
  const status = parseNumber(firstIn(attributes, statusKeys));
  return status === undefined || status < 0 || status > 999 || !Number.isInteger(status) ? -1 : status;
}

/** What went wrong; an empty text when only that something did is said. */
export function errorIn(attributes: Attributes): string | undefined {
  const said = firstIn(attributes, errorKeys);
  if (said !== undefined) return said;
  return attributes.get('error') === 'true' || attributes.get('otel.status_code') === 'ERROR' ? '' : undefined;
}

export function firstIn(attributes: Attributes, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = attributes.get(key);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

/** What attributes say of a span, of Jaeger's and Zipkin's. */
export function saidBy(
  tags: Attributes,
  process: Attributes,
): Pick<Span, 'replica' | 'peer' | 'status' | 'error' | 'line'> {
  return {
    replica: replicaIn(process) ?? replicaIn(tags),
    peer: peerIn(tags),
    status: statusIn(tags),
    error: errorIn(tags),
    line: undefined,
  };
}

/** `server`, `client`, …; whatever else is internal. */
export function kindNamed(word: string | undefined): SpanKind {
  switch (word) {
    case 'server':
    case 'client':
    case 'producer':
    case 'consumer':
      return word;
    default:
      return 'internal';
  }
}

/** The objects of a list; none when it is no list. */
export function objectsIn(list: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
