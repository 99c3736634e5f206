// Reads a long configuration on a thread of its own, while requests are served: ten thousand endpoints take a tenth of a second to read,
// and nobody is to wait for that. What was read comes over in slices, each a task of well under a millisecond: the thread sends the
// next when it is asked for it.
//
// A short one is read where we are: a thread takes longer to begin. So is the one that a process starts with, since a thread that has
// ended leaves more memory behind than the garbage of reading, which later requests use again.

import { Worker } from 'node:worker_threads';
import { type GatewayConfig, type ParsedConfig, parseGatewayConfig } from './config.ts';

/** Characters. */
const long = 128 * 1024;

/** What the thread is given. */
export interface Given {
  readonly text: string;
  readonly file: string;
}

/** What it says: everything but the services, then these, so many at a time; or that there are problems. */
export type Told =
  | { readonly kind: 'refused'; readonly parsed: ParsedConfig }
  | { readonly kind: 'begun'; readonly config: GatewayConfig }
  | { readonly kind: 'services'; readonly services: GatewayConfig['services'] }
  | { readonly kind: 'done' };

/** As `parseGatewayConfig`. Rejects when no thread can be had. */
export function parseAside(text: string, file: string): Promise<ParsedConfig> {
  if (text.length < long) return Promise.resolve(parseGatewayConfig(text, file));
  const given: Given = { text, file };
  const thread = new Worker(new URL('config-reader.ts', import.meta.url), { workerData: given, execArgv: [] });
  return new Promise((resolve, reject) => {
    let begun: GatewayConfig | undefined;
    const services: GatewayConfig['services'][number][] = [];
    thread.on('error', reject);
    thread.on('exit', () => reject(new Error('the thread that reads the configuration has ended')));
    thread.on('message', (told: Told) => {
      if (told.kind === 'refused') return resolve(told.parsed);
      if (told.kind === 'done' && begun !== undefined) return resolve({ ok: true, config: { ...begun, services } });
      if (told.kind === 'begun') begun = told.config;
      if (told.kind === 'services') services.push(...told.services);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      return thread.postMessage('more');
    });
  });
}
