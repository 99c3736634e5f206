// `plimsoll load URL`: load on one address with the flags that users of wrk, wrk2 and hey know, or with requests that they already
// have (curl commands, a HAR, vegeta's targets, an access log). With a rate the demand is open (that many requests a second,
// whatever the answers do); without one it is closed, each connection asking as soon as it has its answer, and the report says
// that such latencies are lower bounds.

import { readFileSync, writeFileSync } from 'node:fs';
import { type Duration, formatDuration, ms, ns, parseDuration, seconds } from '../../base.ts';
import { type LoadResult, machineLimits, preflight, probe, summaryOf } from '../../load.ts';
import { loadJunit, loadText, objectiveLines } from '../../report.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';
import { FlagReader } from '../flag-reader.ts';
import type { GivenFile } from '../given-file.ts';
import { type LoadCommandFlags, readLoadFlags } from '../load-flags.ts';
import { openOutputs } from '../load-outputs.ts';
import { loadPlan, type PlannedLoad, type Protocol } from '../load-plan.ts';
import { scenarioLoad } from '../scenario-load.ts';
import { loadScenario } from '../load-scenario.ts';
import type { Scenario } from '../../scenario.ts';
import { begin, type Cut, measure, type Measured } from '../load-run.ts';
import { borrowThreads, lendThreads } from '../machines.ts';
import { paintFor } from '../terminal.ts';

export async function load(address: string | undefined, options: object): Promise<ExitCode> {
  const given = readLoadFlags(options);
  if (given.workerListen !== undefined) return lend(address, given, given.workerListen);
  const { planned, told } = await planFor(address, given);
  const warmUp = given.warmUp === undefined ? (planned.warmUp ?? ns(0)) : timeOf('--warm-up', given.warmUp);
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
  const where = address ?? planned.plan.groups[0]?.targets[0]?.id ?? '';
  const outputs = await openOutputs(given, planned.plan, where);
  const borrowed = given.on === undefined ? undefined : await borrowThreads(given.on, given.token);
  const threads = borrowed?.threads.length ?? planned.workers;
  const begun = await begin(planned, given.engine, { apart: outputs.wantsSeconds, borrowed });
  talk(
    `Running ${formatDuration(duration)} test @ ${where}\n` +
      `  ${threads} thread${threads === 1 ? '' : 's'} and ${planned.shape}; ${begun.why}`,
  );
  if (outputs.prometheusPort !== undefined) talk(`  metrics at port ${outputs.prometheusPort}, /metrics`);
  const measured = await measure(begun, { warmUp, duration, grace: graceOf(planned) }, outputs, talk);
  const reason = measured.broken ? 'objective' : 'finished';
  for (const trouble of await outputs.end(measured.result, reason)) process.stderr.write(`${trouble}\n`);
  tell(given, where, planned, measured);
  if (measured.interrupted) return exit.interrupted;
  return measured.result.objectives.every(({ met }) => met) ? exit.ok : exit.objective;
}

function lend(address: string | undefined, given: LoadCommandFlags, at: string): Promise<ExitCode> {
  if (address !== undefined || given.on !== undefined) {
    throw new UsageError(
      '--worker-listen lends threads: what they load, and from where else, is said by whoever says --on',
    );
  }
  const flags = new FlagReader();
  const threads = flags.count('--threads', given.threads);
  flags.finish();
  return lendThreads(at, threads, given.token);
}

/** The plan, and what a first connection told of what stands in its way. */
async function planFor(
  address: string | undefined,
  given: LoadCommandFlags,
): Promise<{ readonly planned: PlannedLoad; readonly told: readonly string[] }> {
  const file = given.from === undefined ? undefined : fileOf('--from', given.from);
  const flags = {
    ...given,
    ca: given.ca === undefined ? undefined : fileOf('--ca', given.ca).text,
    body: given.bodyFile === undefined ? given.body : fileOf('--body-file', given.bodyFile).text,
  };
  const scenario = scenarioOf(given);
  const plan = (protocol: Protocol): PlannedLoad =>
    scenario === undefined
      ? loadPlan(address, { ...flags, protocol }, file)
      : scenarioLoad(address, { ...flags, protocol }, scenario);
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

function scenarioOf({ scenario, set, from }: LoadCommandFlags): Scenario | undefined {
  if (scenario === undefined) {
    if (set !== undefined) throw new UsageError('--set needs --scenario: what is to be changed');
    return undefined;
  }
  if (from !== undefined) throw new UsageError('--from and --scenario: leave one of them out');
  const loaded = loadScenario(scenario, set ?? []);
  for (const warning of loaded.warnings) process.stderr.write(`warning: ${warning}\n`);
  return loaded.scenario;
}

function wantedProtocol({ http2, protocol }: LoadCommandFlags): Protocol {
  if (http2 !== true) return protocol ?? 'h1';
  if (protocol === undefined || protocol === 'h2' || protocol === 'h2c') return protocol ?? 'http2';
  throw new UsageError(`--http2 and --protocol ${protocol}: leave one of them out`);
}

function tell(given: LoadCommandFlags, where: string, planned: PlannedLoad, { result, cuts }: Measured): void {
  const { objectives, held } = result;
  const names = planned.plan.groups.map(({ group }) => group);
  const summaries = names.map((name) => ({ name, summary: summaryOf(result, cutsOf(cuts, name), name) }));
  const [first] = summaries;
  if (first === undefined) return;
  const isClosed = planned.plan.groups.some(({ demand }) => demand.kind === 'closed');
  const json = (): string => {
    const model = planned.open ? (isClosed ? 'mixed' : 'open') : 'closed';
    const groups =
      summaries.length === 1 ? {} : { groups: summaries.map(({ name, summary }) => ({ name, ...summary })) };
    const told = { schema: 'plimsoll.dev/load/v1', url: where, model, ...first.summary, ...groups, objectives, held };
    return `${JSON.stringify(told, undefined, 2)}\n`;
  };
  if (given.jsonFile !== undefined) keep('--json-file', given.jsonFile, json());
  if (given.junit !== undefined) keep('--junit', given.junit, loadJunit(where, first.summary, objectives));
  if (given.json === true) {
    process.stdout.write(json());
    return;
  }
  const paint = paintFor(process.stdout);
  const shown = { spectrum: given.latency === true, uncorrected: given.uLatency === true };
  const lines = summaries.flatMap(({ name, summary }, index) => {
    // Replicas and limits are of the whole run: they stand once, at the end.
    const isLast = index === summaries.length - 1;
    const figures = isLast ? summary : { ...summary, replicas: [], limits: [] };
    return [
      ...(summaries.length === 1 ? [] : [paint.strong(name)]),
      ...loadText(figures, shown, paint),
      ...(isLast ? [] : ['']),
    ];
  });
  lines.push(...unnamedLines(planned, result), ...heldLines(result), ...objectiveLines(objectives, paint));
  if (isClosed) {
    lines.push(
      'closed loop: when the service stalls nobody asks, so these latencies are lower bounds; --rate asks regardless',
    );
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}

const cutsOf = (cuts: readonly Cut[], name: string) =>
  cuts.flatMap(({ span, groups }) => {
    const snapshot = groups.find(({ group }) => group === name);
    return snapshot === undefined ? [] : [{ span, snapshot }];
  });

/** The run is over: a file that cannot be written must not take the rest along. */
function keep(flag: string, name: string, text: string): void {
  try {
    writeFileSync(name, text);
  } catch (error) {
    process.stderr.write(`${flag} ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

/** Where no answer says who gave it, everything is put down to the address. */
function unnamedLines({ plan }: PlannedLoad, { replicas }: LoadResult): readonly string[] {
  const addresses = new Set(plan.groups.flatMap(({ targets }) => targets.map(({ id }) => id)));
  const answered = replicas.filter(({ finished }) => finished > 0);
  if (answered.length === 0 || answered.some(({ id }) => !addresses.has(id))) return [];
  const header = plan.groups[0]?.replicaHeader ?? '';
  return [`no answer names its replica in ${header}: --replica-header or --replica-cookie says where to look`];
}

function heldLines(result: LoadResult): readonly string[] {
  return (result.held ?? []).map(({ heldMost, heldAtEnd, opened, lost, errors }) => {
    const wrong = Object.entries(errors).map(([kind, times]) => `, ${times} ${kind}`);
    return `held: ${heldAtEnd} at the end, ${heldMost} at most, ${opened} opened, ${lost} closed by the peer${wrong.join('')}`;
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
function durationOf(given: LoadCommandFlags, planned: PlannedLoad): Duration {
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
