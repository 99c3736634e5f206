// A step of a flow as what goes over the wire, made once before the run: sending a request of HTTP/1.1 is then one write.

import { assert } from '../base.ts';
import type { Step } from '../scenario.ts';
import type { LoadTarget } from './contract.ts';

/** A request that is ready to be sent. */
export interface ReadyRequest {
  readonly method: string;
  /** Of HTTP/1.1 the whole request, of HTTP/2 its body. */
  readonly bytes: Uint8Array;
  /** The head of HTTP/2: names and values in turn, pseudo-fields first. */
  readonly fields: readonly string[] | undefined;
}

/** The versions of HTTP that requests can be made ready for. */
export type HttpVersion = '1.1' | '2';

/** The flow's requests for one target, in the flow's order. */
export function readyRequests(
  flow: readonly Step[],
  target: LoadTarget,
  version: HttpVersion,
): readonly ReadyRequest[] {
  return flow.map((step) => readyRequest(step, target, version));
}

export function readyRequest(step: Step, target: LoadTarget, version: HttpVersion): ReadyRequest {
  const { method } = step;
  if (version === '1.1') return { method, bytes: requestBytes(step, target), fields: undefined };
  return { method, bytes: new TextEncoder().encode(step.body ?? ''), fields: requestFields(step, target) };
}

/** RFC 9113, 8.3.1: the request line and Host as pseudo-fields, names in lower case. What speaks of the connection (8.2.2) is left
 * out: it has no meaning here, and a server must refuse it. */
export function requestFields(step: Step, target: LoadTarget): readonly string[] {
  const given = Object.entries(step.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const names = new Set(given.map(([name]) => name));
  const authority = given.find(([name]) => name === 'host')?.[1] ?? hostField(target);
  const standard: readonly (readonly [string, string])[] = [
    ['user-agent', 'plimsoll'],
    ['accept', '*/*'],
    ...(step.body === undefined
      ? []
      : [['content-length', String(new TextEncoder().encode(step.body).length)] as const]),
  ];
  const fields = [
    ...standard.filter(([name]) => !names.has(name)),
    ...given.filter(([name]) => name !== 'host' && !ofConnection.has(name)),
  ];
  const scheme = target.tls === undefined ? 'http' : 'https';
  const pseudo = [':method', step.method, ':scheme', scheme, ':authority', authority, ':path', step.path];
  return [...pseudo, ...fields.flat()];
}

const ofConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'te']);

/** One request of HTTP/1.1. Host, User-Agent, Accept and Content-Length are added unless the step has its own. */
export function requestBytes(step: Step, target: LoadTarget): Uint8Array {
  const body = new TextEncoder().encode(step.body ?? '');
  const given = new Set(Object.keys(step.headers).map((name) => name.toLowerCase()));
  const standard: [string, string][] = [
    ['Host', hostField(target)],
    ['User-Agent', 'plimsoll'],
    ['Accept', '*/*'],
  ];
  if (step.body !== undefined) standard.push(['Content-Length', String(body.length)]);
  const fields = [...standard.filter(([name]) => !given.has(name.toLowerCase())), ...Object.entries(step.headers)];
  const lines = [`${step.method} ${step.path} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  for (const line of lines) assert(!/[\r\n\0]/.test(line), 'a line of a request head is one line');
  const head = new TextEncoder().encode(`${lines.join('\r\n')}\r\n\r\n`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

/** RFC 9110, 7.2: host and port, the port left out when it is the scheme's own; an IPv6 address in brackets. */
function hostField(target: LoadTarget): string {
  const host = target.host.includes(':') ? `[${target.host}]` : target.host;
  return target.port === (target.tls === undefined ? 80 : 443) ? host : `${host}:${target.port}`;
}
