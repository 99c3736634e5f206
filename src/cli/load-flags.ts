// The shape of what commander hands over for `plimsoll load`.

import { z } from 'zod';
import { UsageError } from './exit.ts';

const loadFlags = z.object({
  connections: z.string().optional(),
  duration: z.string().optional(),
  threads: z.string(),
  on: z.string().optional(),
  workerListen: z.string().optional(),
  token: z.string().optional(),
  rate: z.string().optional(),
  stage: z.array(z.string()).optional(),
  arrivals: z.enum(['constant', 'poisson']).optional(),
  think: z.string().optional(),
  header: z.array(z.string()).optional(),
  method: z.string().optional(),
  body: z.string().optional(),
  bodyFile: z.string().optional(),
  from: z.string().optional(),
  scenario: z.string().optional(),
  set: z.array(z.string()).optional(),
  weight: z.array(z.string()).optional(),
  replay: z.boolean().optional(),
  speed: z.string(),
  timeout: z.string().optional(),
  retries: z.string().optional(),
  retryBackOff: z.string().optional(),
  retryBudget: z.string().optional(),
  warmUp: z.string().optional(),
  http2: z.boolean().optional(),
  protocol: z.enum(['h1', 'h2', 'h2c', 'auto']).optional(),
  streams: z.string().optional(),
  insecure: z.boolean().optional(),
  ca: z.string().optional(),
  hold: z.string().optional(),
  holdNew: z.string().optional(),
  holdRamp: z.string().optional(),
  objective: z.array(z.string()).optional(),
  engine: z.enum(['auto', 'uring', 'node']),
  latency: z.boolean().optional(),
  uLatency: z.boolean().optional(),
  replicaHeader: z.string(),
  replicaCookie: z.string().optional(),
  seed: z.string().optional(),
  anyway: z.boolean().optional(),
  json: z.boolean().optional(),
  jsonFile: z.string().optional(),
  record: z.string().optional(),
  csv: z.string().optional(),
  junit: z.string().optional(),
  hgrm: z.string().optional(),
  hlog: z.string().optional(),
  otlp: z.string().optional(),
  otlpHeader: z.array(z.string()).optional(),
  prometheus: z.string().optional(),
  quiet: z.boolean().optional(),
});

/** What was typed, every value still as a text. */
export type LoadCommandFlags = z.infer<typeof loadFlags>;

/** Throws a `UsageError` that names every flag that is none. */
export function readLoadFlags(options: object): LoadCommandFlags {
  const parsed = loadFlags.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new UsageError(parsed.error.issues.map((issue) => `--${issue.path.join('.')}: ${issue.message}`).join('\n'));
}
