// The thread of `parse-aside.ts`.

import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../base.ts';
import { type ParsedConfig, parseGatewayConfig } from './config.ts';
import type { Given, Told } from './parse-aside.ts';

/** Some five hundred endpoints: a quarter of a millisecond for whoever takes them. */
const servicesAtOnce = 50;

const port = parentPort;
assert(port !== null, 'this is a thread');
// oxlint-disable-next-line typescript/no-unsafe-assignment -- `parse-aside.ts` gives it
const { text, file }: Given = workerData;
const slices = slicesOf(parseGatewayConfig(text, file));

function* slicesOf(parsed: ParsedConfig): Generator<Told, undefined, undefined> {
  if (!parsed.ok) {
    yield { kind: 'refused', parsed };
    return;
  }
  const { services } = parsed.config;
  yield { kind: 'begun', config: { ...parsed.config, services: [] } };
  for (let from = 0; from < services.length; from += servicesAtOnce) {
    yield { kind: 'services', services: services.slice(from, from + servicesAtOnce) };
  }
  yield { kind: 'done' };
}

function sendNext(): void {
  const { value } = slices.next();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  port?.postMessage(value);
  if (value?.kind === 'refused' || value?.kind === 'done') port?.close();
}

port.on('message', sendNext);
sendNext();
