// Two sets of runs beside each other, the base first: what is different, which mechanism moved, and whether the candidate may be
// released. Runs are put in the order of their beginnings; where A and B alternate, drift is told apart from the release.

import { type ComparedSide, type Comparison, type Diagnosis, diagnose, judgeRelease } from '../../diagnose.ts';
import type { Demand, Objective } from '../../scenario.ts';
import { type ClientFacts, type Environment, measuredTicks, type RunRecord } from '../../record.ts';
import { baselinePhase, comparedRun, figureKinds, type Smallest } from './run-figures.ts';

export interface CompareOptions {
  readonly smallest: Smallest;
  readonly objectives: readonly Objective[];
}

/** A sentence instead of a comparison: which side has nothing to compare. */
export function compareRuns(
  base: readonly RunRecord[],
  candidate: readonly RunRecord[],
  options: CompareOptions,
): Comparison | string {
  const orders = orderOf([...base, ...candidate]);
  const sideOf = (records: readonly RunRecord[]): ComparedSide => ({
    runs: records.flatMap((record) => comparedRun(record, orders.get(record), options.objectives) ?? []),
    diagnosis: diagnosisOf(records),
  });
  const [before, after] = [sideOf(base), sideOf(candidate)];
  if (before.runs.length === 0) return 'the base has no measured second in any of its records';
  if (after.runs.length === 0) return 'the candidate has no measured second in any of its records';
  return judgeRelease(before, after, {
    kinds: figureKinds(options.smallest),
    doubts: differencesOf(base, candidate),
  });
}

/** The judged seconds of all runs one after another, as if they were of one run: what a single run is too short for shows. */
function diagnosisOf(records: readonly RunRecord[]): Diagnosis {
  const phases = records.flatMap((record) => baselinePhase(record) ?? []);
  const [first] = phases;
  if (first === undefined) return diagnose({ phases: [] });
  let at_ns = 0;
  const ticks = phases.flatMap(measuredTicks).map((tick) => {
    const placed = { ...tick, at_ns };
    at_ns += tick.span_ns;
    return placed;
  });
  const line = { ...first.line, at_ns: 0, measure_from_ns: 0 };
  return diagnose({ topology: records[0]?.topology, phases: [{ line, events: [], ticks }] });
}

/** Places in time. Records that began at the same instant have none. */
function orderOf(records: readonly RunRecord[]): ReadonlyMap<RunRecord, number> {
  const sorted = records.toSorted(
    (one, other) => Date.parse(one.header.started_at) - Date.parse(other.header.started_at),
  );
  const instants = new Set(records.map(({ header }) => Date.parse(header.started_at)));
  if (instants.size < records.length || instants.has(Number.NaN)) return new Map();
  return new Map(sorted.map((record, index) => [record, index]));
}

/** What is not the same on both sides besides the release. Replicas may differ: that is what a release changes. */
function differencesOf(base: readonly RunRecord[], candidate: readonly RunRecord[]): readonly string[] {
  const facts: readonly (readonly [string, (record: RunRecord) => string | undefined])[] = [
    ['the world', ({ header }) => header.world],
    ['the demand', ({ topology }) => demandText(topology.clients)],
    ['the machine', ({ header }) => machineText(header.environment)],
    ['the balancer’s program', ({ topology }) => topology.gateway?.program],
    ['the scenario', ({ header }) => header.scenario],
  ];
  return facts.flatMap(([what, tell]) => {
    const before = textsOf(base, tell);
    const after = textsOf(candidate, tell);
    if (before === after) return [];
    return [`${what} is not the same on both sides: ${before} before, ${after} now`];
  });
}

const textsOf = (records: readonly RunRecord[], tell: (record: RunRecord) => string | undefined): string =>
  [...new Set(records.map((record) => tell(record) ?? 'not known'))].toSorted().join(' or ');

const demandText = (clients: readonly ClientFacts[]): string =>
  clients.map(({ group, demand }) => `${group} ${demand === undefined ? 'unknown' : demandOf(demand)}`).join(', ');

function demandOf(demand: NonNullable<ClientFacts['demand']>): string {
  return demand.model === ('closed' satisfies Demand['kind'])
    ? `${demand.users} users who think ${demand.think_ns / 1e6} ms`
    : `${demand.rate_per_s}/s`;
}

const machineText = ({ cpu_model, cores, kernel, node }: Environment): string =>
  [cpu_model, cores === undefined ? undefined : `${cores} cores`, kernel, node]
    .filter((part) => part !== undefined)
    .join(', ');
