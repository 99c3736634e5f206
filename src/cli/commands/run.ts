// `plimsoll run SCENARIO`: a real fleet, real load, the experiments that discriminate, a verdict.
//
//   record ──► <out>/record.jsonl   as it happens
//   talk   ──► stderr               live view, what is being tried and why
//   result ──► stdout               verdict and audit, or JSON

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { conduct, labWorld, type RunNews, type RunResult, simWorld, truthOf, type World } from '../../bench.ts';
import { chanceSeed, environmentOf, RecordFile } from '../../host.ts';
import { LabError, type LabOptions, startLab } from '../../lab.ts';
import { nodeEngine } from '../../net.ts';
import { type Arrangement, onlyImagined, type Scenario, unimagined } from '../../scenario.ts';
import { type ExperimentKind, type RecordLine, recordOf, RecordWriter } from '../../record.ts';
import { resultJson, resultPage, resultText } from '../../report.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';
import { LiveRegion } from '../live-region.ts';
import { loadScenario } from '../load-scenario.ts';
import { stopOnSignals } from '../stop-on-signals.ts';
import { columnsOf, paintFor } from '../terminal.ts';
import { typedFlags } from '../typed-flags.ts';
import { version } from '../version.ts';
import { replications } from './replications.ts';

const experimentKinds = [
  'stop-replica',
  'open-loop',
  'swap-policy',
  'slow-another',
  'kill-suspect',
  'scale-out',
  'scale-up',
  'random-choice',
  'through-forwarder',
  'less-load',
  'visit-alone',
] as const satisfies readonly ExperimentKind[];

const flags = z.object({
  world: z.enum(['lab', 'sim']).optional(),
  gateway: z.enum(['plimsoll', 'haproxy', 'nginx', 'envoy']),
  policy: z.enum(['round-robin', 'random', 'least-request']).optional(),
  seed: z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number of at most 15 digits')
    .optional(),
  duration: z.string().optional(),
  set: z.array(z.string()).optional(),
  experiments: z.string(),
  replications: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'expected a whole number from 2')
    .optional(),
  untilRelativeError: z
    .string()
    .regex(/^\d{1,2}(\.\d{1,4})?%$/, 'expected a share such as 1%')
    .optional(),
  workers: z.string().regex(/^[1-9]\d{0,2}$/, 'expected a whole number from 1'),
  out: z.string().optional(),
  json: z.boolean().optional(),
  quiet: z.boolean().optional(),
});

export async function run(nameOrFile: string, options: object): Promise<ExitCode> {
  const wanted = typedFlags(flags, options);
  const settings = [
    ...(wanted.set ?? []),
    ...(wanted.policy === undefined ? [] : [`gateway.policy=${wanted.policy}`]),
    ...(wanted.duration === undefined ? [] : [`duration=${wanted.duration}`]),
  ];
  const { scenario, warnings } = loadScenario(nameOrFile, settings, wanted.world === 'lab');
  const tooLarge = onlyImagined(scenario);
  const chosen = { ...wanted, world: worldFor(wanted.world, tooLarge) };
  const experiments = parseExperiments(chosen.experiments);
  const seed = chosen.seed === undefined ? chanceSeed() : Number(chosen.seed);
  if (chosen.replications !== undefined || chosen.untilRelativeError !== undefined) {
    return replicated(scenario, chosen, seed);
  }
  const startedAt = new Date();
  const id = `${startedAt.toISOString().replaceAll(/[-:]/g, '').slice(0, 15)}-${scenario.name}`;
  const folder = resolve(chosen.out ?? join('plimsoll-runs', id));
  mkdirSync(folder, { recursive: true });

  const live = chosen.quiet === true ? undefined : new LiveRegion(process.stderr);
  for (const warning of warnings) live?.say(`warning: ${warning}`);
  if (tooLarge.length > 0 && wanted.world === undefined) {
    live?.say(`in imagined time, for this machine cannot play ${tooLarge.join(', ')}`);
  }
  const scale = chosen.world === 'lab' ? (scenario.inLab ?? []) : [];
  if (scale.length > 0) live?.say(`on the scale of the lab: ${scale.join(', ')}`);
  const left = chosen.world === 'sim' ? unimagined(scenario) : [];
  if (left.length > 0) live?.say(`warning: imagined time leaves out ${left.join(', ')}`);
  const stopping = stopOnSignals(() =>
    live?.say('stopping: what was recorded so far is kept (once more ends at once)'),
  );
  const file = openRecord(join(folder, 'record.jsonl'));
  const writer = new RecordWriter((text) => file.append(text));
  const lines: RecordLine[] = [];
  const progress = new Progress(scenario, live);
  const began = process.hrtime.bigint();
  const now = (): number => Number(process.hrtime.bigint() - began);
  const tell = (line: RecordLine): void => {
    lines.push(line);
    writer.write(line);
    progress.hear(line);
  };

  live?.say(`${scenario.name}: ${scenario.about}  (seed ${seed})`);
  let result: RunResult;
  try {
    const opened =
      chosen.world === 'sim'
        ? imagined(scenario, seed)
        : await real({
            scenario,
            seed,
            gateway: chosen.gateway,
            folder,
            now,
            onEvent: (event) => {
              if (lines.length > 1) tell({ kind: 'event', at_ns: now(), ...event });
            },
          });
    try {
      result = await conduct({
        id,
        scenario,
        world: opened.world,
        seed,
        startedAt: startedAt.toISOString(),
        environment: environmentOf({ plimsoll: version }),
        experiments,
        tell,
        announce: (news) => progress.announce(news),
        stop: stopping.signal,
      });
    } finally {
      await opened.close();
    }
  } finally {
    live?.clear();
    file.close();
    stopping.release();
  }
  writeFileSync(join(folder, 'truth.json'), `${JSON.stringify(truthOf(id, scenario), undefined, 2)}\n`);

  const record = recordOf(lines);
  const outcome = {
    record,
    diagnosis: result.diagnosis,
    objectives: result.objectives,
    limits: result.limits,
    file: file.path,
  };
  writeFileSync(join(folder, 'report.html'), resultPage(outcome));
  if (chosen.json === true) process.stdout.write(`${JSON.stringify(resultJson(outcome), undefined, 2)}\n`);
  else process.stdout.write(`${resultText(outcome, columnsOf(process.stdout), paintFor(process.stdout)).join('\n')}\n`);
  return exitCodeOf(scenario, result, stopping.by());
}

/** The world that was asked for; without a wish the lab, where the scenario is not too large for it. */
function worldFor(wanted: 'lab' | 'sim' | undefined, tooLarge: readonly string[]): 'lab' | 'sim' {
  if (wanted === 'lab' && tooLarge.length > 0) {
    throw new UsageError(`--world lab: one machine cannot play ${tooLarge.join(', ')}; expected --world sim`);
  }
  return wanted ?? (tooLarge.length > 0 ? 'sim' : 'lab');
}

/** Without a number an error has so many to be reached in. */
const replicationsMax = '1000';

function replicated(scenario: Scenario, chosen: z.infer<typeof flags>, seed: number): Promise<ExitCode> {
  const { replications: asked, untilRelativeError: until } = chosen;
  const flag = asked === undefined ? '--until-relative-error' : '--replications';
  if (chosen.world !== 'sim') throw new UsageError(`${flag}: expected --world sim beside it`);
  const count = Number(asked ?? replicationsMax);
  const relativeError = until === undefined ? undefined : Number.parseFloat(until) / 100;
  const least = relativeError === undefined ? 2 : 10;
  if (count < least) throw new UsageError(`--replications: an interval takes at least ${least}`);
  if (relativeError === 0) throw new UsageError('--until-relative-error: expected more than nothing');
  return replications(scenario, {
    replications: count,
    relativeError,
    workers: Number(chosen.workers),
    seed,
    json: chosen.json === true,
    live: chosen.quiet === true ? undefined : new LiveRegion(process.stderr),
  });
}

/** No record is ever written over. */
function openRecord(path: string): RecordFile {
  try {
    return new RecordFile(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new UsageError(`--out: ${path} is there already, and no record is written over; choose another folder`);
    }
    throw error;
  }
}

interface Opened {
  readonly world: World;
  close(): Promise<void>;
}

/** The scenario as real processes on this machine. */
async function real(options: {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly gateway: LabOptions['gateway'];
  readonly folder: string;
  readonly now: () => number;
  readonly onEvent: LabOptions['onEvent'];
}): Promise<Opened> {
  const { scenario, seed, now } = options;
  const main = join(import.meta.dirname, '..', 'main.ts');
  const lab = await startLab({
    topology: scenario.topology,
    seed,
    gateway: options.gateway,
    gatewayCommand: [process.execPath, '--disable-warning=ExperimentalWarning', main, 'gateway'],
    folder: options.folder,
    onEvent: options.onEvent,
  }).catch((error: unknown) => {
    // What the lab could not start (a program that is not installed, a port in use) is told as it is, without a stack.
    if (error instanceof LabError) throw new UsageError(error.message);
    throw error;
  });
  const engine = nodeEngine();
  const world = labWorld({ scenario, lab, engine, seed, now });
  return {
    world,
    async close() {
      await world.close();
      await engine.close();
    },
  };
}

/** The scenario in imagined time. */
function imagined(scenario: Scenario, seed: number): Opened {
  const world = simWorld({ scenario, seed });
  return { world, close: () => world.close() };
}

function parseExperiments(text: string): 'auto' | 'none' | readonly ExperimentKind[] {
  if (text === 'auto' || text === 'none') return text;
  const wanted = text.split(',').map((one) => one.trim());
  const known: readonly string[] = experimentKinds;
  const unknown = wanted.filter((one) => !known.includes(one));
  if (unknown.length > 0) {
    throw new UsageError(
      `--experiments: there is no ${unknown.map((one) => `"${one}"`).join(', ')}; expected auto, none, or of ${experimentKinds.join(', ')}`,
    );
  }
  return experimentKinds.filter((kind) => wanted.includes(kind));
}

/** Tells the live view what is going on. */
class Progress {
  readonly #live: LiveRegion | undefined;
  #title: string;
  #beganNs = 0;
  #lengthSeconds = 0;

  constructor(scenario: Scenario, live: LiveRegion | undefined) {
    this.#live = live;
    this.#title = scenario.name;
  }

  announce(news: RunNews): void {
    if (news.kind === 'plan') {
      const kinds = news.experiments.map((experiment) => experiment.kind).join(', ');
      this.#live?.say(`experiments that would tell the theories apart: ${kinds}`);
      return;
    }
    const { arrangement, experiment } = news;
    this.#title = arrangement.name;
    this.#lengthSeconds = lengthOf(arrangement);
    if (experiment !== undefined) this.#live?.say(`→ ${arrangement.name}: ${experiment.did}`);
  }

  hear(line: RecordLine): void {
    if (line.kind === 'phase') this.#beganNs = line.at_ns;
    if (line.kind === 'event')
      this.#live?.say(`  ${[line.event, line.target, line.detail].filter((part) => part !== undefined).join(' ')}`);
    if (line.kind !== 'tick') return;
    const at = (line.at_ns + line.span_ns - this.#beganNs) / 1e9;
    const progress = `${at.toFixed(0)} s of ${this.#lengthSeconds.toFixed(0)} s`;
    this.#live?.show({ title: this.#title, progress, tick: line }, (line.at_ns + line.span_ns) / 1e9);
  }
}

function lengthOf(arrangement: Arrangement): number {
  return (arrangement.warmUp + arrangement.duration) / 1e9;
}

function exitCodeOf(scenario: Scenario, result: RunResult, signal: ExitCode | undefined): ExitCode {
  if (signal !== undefined) return signal;
  if (result.objectives.some((objective) => !objective.met)) return exit.objective;
  const { pattern } = result.diagnosis.verdict;
  if (pattern === 'healthy' || pattern === scenario.expect) return exit.ok;
  // Nothing was found where nothing was expected; a scenario that expects a verdict has not got it.
  return pattern === 'undecided' && scenario.expect === undefined ? exit.ok : exit.fault;
}
