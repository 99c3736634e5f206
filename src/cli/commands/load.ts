// `plimsoll load URL`: load on one address with the flags that users of wrk, wrk2 and hey know, or with requests that they already
// have (curl commands, a HAR, vegeta's targets, an access log). With a rate the demand is open (that many requests a second,
// whatever the answers do); without one it is closed, each connection asking as soon as it has its answer, and the report says
// that such latencies are lower bounds.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Duration, ms, ns, parseDuration, seconds } from '../../base.ts';
import {
  type GroupSnapshot,
  type HeldSnapshot,
  type LoadResult,
  type LoadRun,
  type LoadSnapshot,
  machineLimits,
  preflight,
  probe,
  startCrew,
  startLoad,
  summaryOf,
} from '../../load.ts';
import { chooseEngine, type Engine, type EngineChoice } from '../../net.ts';
import { loadText, objectiveLines } from '../../report.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';
import type { GivenFile } from '../flag-reader.ts';
import { loadPlan, type PlannedLoad, type Protocol } from '../load-plan.ts';
import { paintFor } from '../terminal.ts';

const flags = z.object({
  connections: z.string(),
  duration: z.string().optional(),
  threads: z.string(),
  rate: z.string().optional(),
  arrivals: z.enum(['constant', 'poisson']),
  think: z.string(),
  header: z.array(z.string()).optional(),
  method: z.string(),
  body: z.string().optional(),
  from: z.string().optional(),
  replay: z.boolean().optional(),
  speed: z.string(),
  timeout: z.string(),
  warmUp: z.string(),
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
  seed: z.string().optional(),
  anyway: z.boolean().optional(),
  json: z.boolean().optional(),
  quiet: z.boolean().optional(),
});

type Flags = z.infer<typeof flags>;

export async function load(address: string | undefined, options: object): Promise<ExitCode> {
  const parsed = flags.safeParse(options);
  if (!parsed.success) {
    throw new UsageError(parsed.error.issues.map((issue) => `--${issue.path.join('.')}: ${issue.message}`).join('\n'));
  }
  const given = parsed.data;
  const { planned, told } = await planFor(address, given);
  const warmUp = timeOf('--warm-up', given.warmUp);
  const duration = durationOf(given, planned);
  const shortages = preflight(planned.plan, machineLimits());
  for (const message of [...told, ...shortages.map((each) => each.message)]) {
    process.stderr.write(`before the run: ${message}\n`);
  }
  if (given.anyway !== true && (told.length > 0 || shortages.some((shortage) => shortage.when === 'sure'))) {
    process.stderr.write('not started: --anyway starts all the same\n');
    return exit.usage;
  }

  const talk = given.quiet === true ? () => {} : (text: string) => process.stderr.write(`${text}\n`);
  const { running, engine, why } = await begin(planned, given.engine);
  const where = address ?? planned.plan.groups[0]?.targets[0]?.id ?? '';
  talk(
    `Running ${(duration / 1e9).toFixed(0)}s test @ ${where}\n` +
      `  ${planned.workers} threads and ${given.connections} connections${streamsText(planned)}, ${planned.shape}; ${why}`,
  );
  const { result, cuts, interrupted } = await measure(
    running,
    engine,
    { warmUp, duration, grace: graceOf(planned) },
    talk,
  );
  tell(given, where, planned, result, cuts);
  if (interrupted) return exit.interrupted;
  return result.objectives.every(({ met }) => met) ? exit.ok : exit.objective;
}

/** The plan, and what a first connection told of what stands in its way. */
async function planFor(
  address: string | undefined,
  given: Flags,
): Promise<{ readonly planned: PlannedLoad; readonly told: readonly string[] }> {
  const file = given.from === undefined ? undefined : fileOf('--from', given.from);
  const ca = given.ca === undefined ? undefined : fileOf('--ca', given.ca).text;
  const plan = (protocol: Protocol): PlannedLoad => loadPlan(address, { ...given, ca, protocol }, file);
  const wanted = wantedProtocol(given);
  const planned = plan(wanted);
  const [target] = planned.plan.groups[0]?.targets ?? [];
  if (target === undefined) return { planned, told: [] };
  const found = await probe(target);
  if (found.kind === 'failed') return { planned, told: [found.message] };
  if (wanted === 'auto') return { planned: plan(found.alpn === 'h2' ? 'h2' : 'h1'), told: [] };
  if (planned.plan.groups[0]?.http2 === undefined || target.tls === undefined || found.alpn === 'h2') {
    return { planned, told: [] };
  }
  return {
    planned,
    told: [`${target.id}: it does not offer HTTP/2 by ALPN: leave out --http2, or say --protocol auto`],
  };
}

function wantedProtocol({ http2, protocol }: Flags): Protocol {
  if (http2 !== true) return protocol ?? 'h1';
  if (protocol === undefined || protocol === 'h2' || protocol === 'h2c') return protocol ?? 'http2';
  throw new UsageError(`--http2 and --protocol ${protocol}: leave one of them out`);
}

function streamsText({ plan }: PlannedLoad): string {
  const streams = plan.groups[0]?.http2?.streamsMax;
  return streams === undefined ? '' : ` of HTTP/2 with ${streams} stream${streams === 1 ? '' : 's'} each`;
}

interface Begun {
  readonly running: LoadRun;
  /** Ours to close; undefined where workers have their own. */
  readonly engine: Engine | undefined;
  readonly why: string;
}

async function begin({ plan, workers, open }: PlannedLoad, wanted: EngineChoice): Promise<Begun> {
  // HTTP/2 is Node's own implementation, on Node's own sockets.
  const isHttp2 = plan.groups.some(({ http2 }) => http2 !== undefined);
  if (isHttp2 && wanted === 'uring') {
    throw new UsageError(
      '--engine uring: HTTP/2 is spoken by Node, on its own sockets; leave the flag out, or --http2',
    );
  }
  const choice = isHttp2 ? 'node' : wanted;
  const chosen = chooseEngine(choice, { fineAlarms: open });
  if ('impossible' in chosen) throw new UsageError(`--engine ${choice}: ${chosen.impossible}`);
  const why = isHttp2 ? "Node's own sockets, which HTTP/2 needs" : chosen.why;
  if (workers === 1) return { running: startLoad(plan, chosen.engine), engine: chosen.engine, why };
  await chosen.engine.close();
  return { running: await startCrew(plan, { workers, engine: choice }), engine: undefined, why };
}

function tell(given: Flags, where: string, planned: PlannedLoad, result: LoadResult, cuts: readonly Cut[]): void {
  const summary = summaryOf(result, cuts);
  if (given.json === true) {
    const model = planned.open ? 'open' : 'closed';
    const json = {
      schema: 'plimsoll.dev/load/v1',
      url: where,
      model,
      ...summary,
      objectives: result.objectives,
      held: result.held,
    };
    process.stdout.write(`${JSON.stringify(json, undefined, 2)}\n`);
    return;
  }
  const paint = paintFor(process.stdout);
  const shown = { spectrum: given.latency === true, uncorrected: given.uLatency === true };
  const lines = [...loadText(summary, shown, paint), ...heldLines(result), ...objectiveLines(result.objectives, paint)];
  if (!planned.open) {
    lines.push(
      'closed loop: when the service stalls nobody asks, so these latencies are lower bounds; --rate asks regardless',
    );
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}

function heldLines(result: LoadResult): readonly string[] {
  return (result.held ?? []).map(({ heldMost, heldAtEnd, opened, lost, errors }) => {
    const wrong = Object.entries(errors).map(([kind, times]) => `, ${times} ${kind}`);
    return `held: ${heldAtEnd} at the end, ${heldMost} at most, ${opened} opened, ${lost} closed by the peer${wrong.join('')}`;
  });
}

interface Cut {
  readonly span: Duration;
  readonly snapshot: GroupSnapshot;
}

interface Times {
  readonly warmUp: Duration;
  readonly duration: Duration;
  readonly grace: Duration;
}

/** Warm-up, then one snapshot a second until the time is over or somebody interrupts. */
async function measure(
  running: LoadRun,
  engine: Engine | undefined,
  times: Times,
  talk: (text: string) => void,
): Promise<{ result: LoadResult; cuts: Cut[]; interrupted: boolean }> {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(exit.interrupted);
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  const cuts: Cut[] = [];
  try {
    // Without a warm-up everything counts from the first request on, and both sides count the same.
    if (times.warmUp > 0) {
      await pause(times.warmUp / 1e6, controller.signal);
      running.measure();
      running.snapshot();
    }
    const end = performance.now() + times.duration / 1e6;
    while (performance.now() < end - 1 && !controller.signal.aborted) {
      await pause(Math.min(1000, end - performance.now()), controller.signal);
      const snapshot = running.snapshot();
      const [group] = snapshot.groups;
      if (group === undefined) break;
      cuts.push({ span: snapshot.span, snapshot: group });
      if (snapshot.broken !== undefined) {
        for (const { metric, expression, observed } of snapshot.broken) {
          talk(
            `ended: ${metric} ${expression} does not hold (${observed === undefined ? 'not observed' : observed.toPrecision(4)})`,
          );
        }
        break;
      }
      if (cuts.length % 5 === 0) talk(progressOf(snapshot, group));
    }
    const result = await running.stop(controller.signal.aborted ? seconds(0) : times.grace);
    return { result, cuts, interrupted: controller.signal.aborted };
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    await engine?.close();
  }
}

function progressOf(snapshot: LoadSnapshot, group: GroupSnapshot): string {
  const errors = Object.entries(group.errors).map(([kind, times]) => `${times} ${kind}`);
  const wrong = errors.length === 0 ? '' : `, ${errors.join(', ')}`;
  const held = (snapshot.held ?? []).map((each: HeldSnapshot) => `, ${each.held} of ${each.asked} connections held`);
  return (
    `  ${(group.answered / (snapshot.span / 1e9)).toFixed(0)} answers/s, ` +
    `${group.inFlightMean.toFixed(0)} in flight${held.join('')}${wrong}`
  );
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(0, milliseconds));
    signal.addEventListener('abort', done);
  });
}

function fileOf(flag: string, name: string): GivenFile {
  try {
    return { name, text: readFileSync(name === '-' ? 0 : name, 'utf8') };
  } catch (error) {
    throw new UsageError(`${flag} ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A list of requests ends by itself; anything else after ten seconds unless told otherwise. */
function durationOf(given: Flags, planned: PlannedLoad): Duration {
  if (given.duration !== undefined) return timeOf('--duration', given.duration);
  return planned.lasts === undefined ? seconds(10) : ns(planned.lasts + ms(10));
}

/** The last requests of a list are due at the very end, and their answers are wanted. */
const graceOf = ({ lasts, plan }: PlannedLoad): Duration =>
  lasts === undefined ? ms(500) : (plan.groups[0]?.timeout ?? seconds(2));

function timeOf(flag: string, text: string): Duration {
  const found = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (found === undefined || (found <= 0 && flag !== '--warm-up')) {
    throw new UsageError(`${flag}: found "${text}", expected a duration such as 30s, 500ms or 2m`);
  }
  return found;
}
