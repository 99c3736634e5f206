// A step of a flow as the bytes that go over the wire, made once before the run: sending a request is then one write.

import { assert } from '../base.ts';
import type { Step } from '../scenario.ts';
import type { LoadTarget } from './contract.ts';

/** A request that is ready to be sent. */
export interface ReadyRequest {
  readonly method: string;
  readonly bytes: Uint8Array;
}

/** The flow's requests for one target, in the flow's order. */
export function readyRequests(flow: readonly Step[], target: LoadTarget): readonly ReadyRequest[] {
  return flow.map((step) => ({ method: step.method, bytes: requestBytes(step, target) }));
}

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
