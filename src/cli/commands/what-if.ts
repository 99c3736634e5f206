// `plimsoll what-if RECORD --policy least-request --users 32,128`: each change alone, then all of them; without any, those that the
// fleet itself leaves open.

import { z } from 'zod';
import { type Change, fitFleet, whatIf, type WhatIfOptions, whatIfScenario } from '../../bench.ts';
import { parseDuration } from '../../base.ts';
import { whatIfText } from '../../report.ts';
import { type ExitCode, UsageError } from '../exit.ts';
import { LiveRegion } from '../live-region.ts';
import { isScenario, loadScenario } from '../load-scenario.ts';
import { readRecordAt } from '../read-evidence.ts';
import { tellEvenIfStopped } from '../stop-on-signals.ts';
import { columnsOf, paintFor } from '../terminal.ts';
import { typedFlags } from '../typed-flags.ts';

const count = (max: number): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'expected a whole number')
    .transform(Number)
    .pipe(z.int().min(0).max(max));
const positive = z
  .string()
  .regex(/^\d+(\.\d+)?$/, 'expected a number')
  .transform(Number)
  .pipe(z.number().positive());
const perSecond = z
  .string()
  .regex(/^\d+(\.\d+)?(\/s)?$/, 'expected a rate such as 240/s')
  .transform((text) => Number.parseFloat(text))
  .pipe(z.number().positive());
const percent = z
  .string()
  .regex(/^\d+(\.\d+)?%$/, 'expected a share such as 10%')
  .transform((text) => Number.parseFloat(text) / 100);
const duration = z.string().transform((text, context) => {
  const parsed = parseDuration(text);
  if (parsed !== undefined && parsed >= 0) return parsed;
  context.issues.push({ code: 'custom', input: text, message: 'expected a duration such as 250ms' });
  return z.NEVER;
});
/** One or more, separated by commas: an alternative each. */
const each = <T>(of: z.ZodType<T, string>): z.ZodType<readonly T[], string | undefined> =>
  z
    .string()
    .optional()
    .transform((text) => (text === undefined ? [] : text.split(',')))
    .pipe(z.array(of));

const flags = z.object({
  policy: each(z.enum(['round-robin', 'random', 'least-request'])),
  retryBudget: each(percent),
  retries: each(count(20)),
  backOff: each(duration),
  users: each(count(1e7)),
  think: each(duration),
  rate: each(perSecond),
  replicas: each(count(1e5)),
  workers: each(count(1e5)),
  queueLimit: each(count(1e6)),
  dropAbandoned: z.boolean().optional(),
  timeout: each(duration),
  callTimeout: each(duration),
  healthPool: z.boolean().optional(),
  processor: each(positive),
  serviceTime: each(positive),
  networkDelay: each(duration),
  networkLoss: each(percent),
  autoscaleMax: each(count(10_000)),
  set: z.array(z.string()).optional(),
  anyway: z.boolean().optional(),
  replications: count(10_000),
  threads: count(256),
  seed: count(1e9),
  json: z.boolean().optional(),
  quiet: z.boolean().optional(),
});

export async function whatIfCommand(subject: string, options: object): Promise<ExitCode> {
  const chosen = typedFlags(flags, options);
  const live = chosen.quiet === true ? undefined : new LiveRegion(process.stderr);
  const began = performance.now();
  const settings: Omit<WhatIfOptions, 'stop'> = {
    changes: changesOf(chosen),
    replications: Math.max(3, chosen.replications),
    workers: Math.max(1, chosen.threads),
    seed: chosen.seed,
    anyway: chosen.anyway === true,
    onRun: (finished, of) => {
      const progress = `${finished} of ${of} imagined runs`;
      live?.show({ title: 'what if', progress, tick: undefined }, (performance.now() - began) / 1000);
    },
  };
  return tellEvenIfStopped(live, 'stopping: what has been played is told (once more ends at once)', async (stop) => {
    const result = await (isScenario(subject)
      ? whatIfScenario(loadScenario(subject, chosen.set ?? []).scenario, { ...settings, stop })
      : ofRecord(subject, chosen.set, { ...settings, stop }));
    if (chosen.json === true) return JSON.stringify(result, undefined, 2);
    return whatIfText(result, columnsOf(process.stdout), paintFor(process.stdout)).join('\n');
  });
}

async function ofRecord(
  path: string,
  set: readonly string[] | undefined,
  settings: WhatIfOptions,
): Promise<Awaited<ReturnType<typeof whatIf>>> {
  if (set !== undefined) {
    throw new UsageError('--set: changes the text of a scenario, and a record has none; expected a scenario beside it');
  }
  const { record, remarks } = await readRecordAt(path);
  for (const remark of remarks) process.stderr.write(`${remark}\n`);
  const fleet = fitFleet(record);
  if (typeof fleet === 'string') throw new UsageError(`${path}: no fleet can be fitted: ${fleet}`);
  return whatIf(record, fleet, settings);
}

/** In the order in which they stand in the help. */
function changesOf(chosen: z.infer<typeof flags>): readonly Change[] {
  return [
    ...chosen.policy.map((policy): Change => ({ kind: 'policy', policy })),
    ...chosen.callTimeout.map((timeout): Change => ({ kind: 'call-timeout', timeout })),
    ...chosen.retryBudget.map((share): Change => ({ kind: 'retry-budget', share })),
    ...chosen.retries.map((retries): Change => ({ kind: 'retries', retries })),
    ...chosen.backOff.map((backOff): Change => ({ kind: 'back-off', backOff })),
    ...chosen.queueLimit.map((limit): Change => ({ kind: 'queue-limit', limit })),
    ...(chosen.dropAbandoned === true ? [{ kind: 'drop-abandoned' } as const] : []),
    ...chosen.timeout.map((timeout): Change => ({ kind: 'timeout', timeout })),
    ...chosen.users.map((users): Change => ({ kind: 'users', users })),
    ...chosen.think.map((think): Change => ({ kind: 'think', think })),
    ...chosen.rate.map((ratePerSecond): Change => ({ kind: 'rate', ratePerSecond })),
    ...chosen.replicas.map((replicas): Change => ({ kind: 'replicas', replicas })),
    ...chosen.workers.map((workers): Change => ({ kind: 'workers', workers })),
    ...(chosen.healthPool === true ? [{ kind: 'health-pool' } as const] : []),
    ...chosen.processor.map((faster): Change => ({ kind: 'processor', faster })),
    ...chosen.serviceTime.map((factor): Change => ({ kind: 'service-time', factor })),
    ...chosen.networkDelay.map((delay): Change => ({ kind: 'network-delay', delay })),
    ...chosen.networkLoss.map((share): Change => ({ kind: 'network-loss', share })),
    ...chosen.autoscaleMax.map((max): Change => ({ kind: 'autoscale-max', max })),
  ];
}
