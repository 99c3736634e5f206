// `plimsoll trace SCENARIO`: imagined time, event by event.
//
//   events ──► stdout, a line each
//   talk   ──► stderr: how many there were, and the digest up to there

import { z } from 'zod';
import { formatDuration, ns, parseDuration } from '../../base.ts';
import { storyLineText } from '../../report.ts';
import type { Scenario } from '../../scenario.ts';
import { type StoryLine, storyOf } from '../../sim.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';
import { loadScenario } from '../load-scenario.ts';
import { paintFor } from '../terminal.ts';
import { typedFlags } from '../typed-flags.ts';

/** After every event the replicas are looked at, so there may not be any number of them. */
const replicasMax = 1000;

const time = z.string().transform((text, context) => {
  const parsed = parseDuration(text);
  if (parsed !== undefined) return parsed;
  context.issues.push({ code: 'custom', input: text, message: `expected a time such as 8s or 50ms, found ${text}` });
  return z.NEVER;
});

const flags = z.object({
  from: time,
  for: time,
  only: z.string().optional(),
  seed: z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number of at most 15 digits')
    .transform(Number),
  set: z.array(z.string()).optional(),
  json: z.boolean().optional(),
});

export function trace(nameOrFile: string, options: object): ExitCode {
  const chosen = typedFlags(flags, options);
  const { from, for: length, only, seed, set, json } = chosen;
  const { scenario } = loadScenario(nameOrFile, set ?? []);
  check(scenario, chosen);
  const paint = paintFor(process.stdout);
  const show = (line: StoryLine): string => (json === true ? JSON.stringify(line) : storyLineText(line, paint));

  const story = storyOf(scenario, { seed, from, length });
  let told = 0;
  for (;;) {
    const next = story.next();
    if (next.done === true) {
      const { events, digest } = next.value;
      process.stderr.write(
        `${told} events told of ${events} up to ${formatDuration(ns(from + length))}; digest ${digest}\n`,
      );
      return exit.ok;
    }
    if (only !== undefined && next.value.changes.every(({ id }) => id !== only)) continue;
    told += 1;
    process.stdout.write(`${show(next.value)}\n`);
  }
}

function check({ topology, warmUp, duration }: Scenario, { from, only }: z.infer<typeof flags>): void {
  const ids = [
    ...topology.services.flatMap(({ name, replicas }) =>
      Array.from({ length: replicas }, (_, at) => `${name}-${at + 1}`),
    ),
    ...topology.dependencies.map(({ name }) => `${name}-1`),
  ];
  if (ids.length > replicasMax) {
    throw new UsageError(
      `${ids.length} replicas: expected at most ${replicasMax} to follow; --set services.NAME.replicas=…`,
    );
  }
  if (only !== undefined && !ids.includes(only)) {
    throw new UsageError(`--only: there is no ${only}; expected one of ${ids.slice(0, 20).join(', ')}`);
  }
  if (from >= warmUp + duration) {
    throw new UsageError(
      `--from: ${formatDuration(from)} is past the end of the run, ${formatDuration(ns(warmUp + duration))}`,
    );
  }
}
