// What went wrong for a while, read off the ticks as an operator would: the record does not tell which fault was injected, but what
// each component did, second by second.
//
//   silent     it could not be asked: it stood still, or was gone, where the balancer had nothing in flight there
//   slow       its workers were busy and finished less than usual: for a stretch of seconds
//   failing    a share of its answers were errors, and neither a full queue nor a call explains them
//
// The slowness of a stretch is (worker time spent) ÷ (pieces of work that ended), against the usual: the maximum-likelihood mean of
// exponential times of which some had not ended. It holds for a datastore that takes 20 s a call and ends five of them.
//
// Work that was begun in a slow stretch may last long after it:
//
//   busy    ▁▁▁▁██████████▇▇▆▆▅▅▄▄▃▃▂▂▁▁▁
//   ended   ▆▆▆▆▁▁▁▁▁▁▁▁▁▁▃▃▄▅▅▆▆▆▆▆▆▆▆▆▆      more ends than the slowness allows: the stretch is over
//               └stretch─┘└──── drain ──┘      what is held on belongs to it, and tells how long its pieces are
//
// A service is not judged from when something that it calls was slow: its workers waited.

import { type Duration, ns } from '../../base.ts';
import type { PhaseRecord, ReplicaTick, TickLine, TopologyLine } from '../../record.ts';
import type { Fault } from '../../scenario.ts';
import { medianOf, quantileOf } from '../../stats.ts';

export interface SeenFaults {
  readonly faults: readonly Fault[];
  /** Relative standard error of how slow, by replica. */
  readonly errors: readonly (readonly [replica: string, error: number])[];
  /** A sentence each. */
  readonly notes: readonly string[];
  /** Ticks in which nothing was wrong, or was still felt: from these the usual is read. */
  readonly isCalm: (tick: TickLine) => boolean;
}

/** Slower than this is worth a look in one tick, and is a fault in a stretch. */
const suspicious = 1.25;
const slowFactorMin = 1.5;
const deviations = 3;
const ticksMin = 2;
/** Whoever stands still holds what it was given. */
const heldMin = 0.5;
/** More than its slowness allows, by so many deviations and pieces, ends when a stretch is over. */
const overDeviations = 4;
const overPieces = 3;
/** A share of errors that is no accident, of so many answers at least. */
const failingMin = 0.05;
const answersMin = 50;

interface Stretch {
  readonly id: string;
  /** Places of ticks: the first that was wrong, and the first that was not. */
  readonly from: number;
  readonly until: number;
  /** The first in which nothing of it was felt any more. */
  readonly overAt: number;
  readonly fault: Fault;
  /** Relative standard error of how slow. */
  readonly error: number;
}

/** Of one phase, counted from its beginning. */
export function faultsSeen(phase: PhaseRecord, topology: TopologyLine): SeenFaults {
  const { ticks } = phase;
  const dependencies = topology.services.filter(({ role }) => role === 'dependency');
  const services = topology.services.filter(({ role }) => role === 'service');
  const below = dependencies.flatMap(({ replicas }) => replicas.flatMap(({ id }) => stretchesOf(phase, id)));
  const above = services.flatMap(({ replicas, calls = [] }) => {
    const waitsFrom = Math.min(
      ...below.flatMap(({ id, from }) => (calls.some(({ to }) => id.startsWith(`${to}-`)) ? [from] : [])),
    );
    return replicas.flatMap(({ id }) => stretchesOf(phase, id).filter(({ from }) => from < waitsFrom));
  });
  const stretches = [...below, ...above];
  const failing = services.flatMap(({ replicas, calls = [] }) =>
    calls.length > 0 ? [] : replicas.flatMap(({ id }) => failingOf(ticks, id)),
  );
  const faults = [...stretches.map(({ fault }) => fault), ...failing];
  return {
    faults,
    errors: stretches.map(({ id, error }) => [id, error]),
    notes: faults.map(sentenceOf),
    isCalm: (tick) => {
      const place = ticks.indexOf(tick);
      return stretches.every(({ from, overAt }) => place < from || place >= overAt);
    },
  };
}

function stretchesOf(phase: PhaseRecord, id: string): readonly Stretch[] {
  return [...silentStretches(phase, id), ...slowStretches(phase, id)];
}

// ── silent ──────────────────────────────────────────────────────────────────────────────────────────────────────────

function silentStretches({ ticks, line }: PhaseRecord, id: string): readonly Stretch[] {
  return runsOf(ticks.map((tick) => seenIn(tick, id)?.state === 'silent')).map(({ from, until }) => {
    const held = ticks.slice(from, until).map((tick) => seenIn(tick, id)?.in_flight_mean ?? 0);
    const isGone = (held.at(-1) ?? 0) < heldMin;
    // Who answers is found out at the end of a tick, so both ends lie in the ticks before.
    const fault: Fault = {
      ...spanOf(ticks, line.at_ns, from + 1, until + 1),
      kind: isGone ? 'kill' : 'stop',
      replica: id,
    };
    return { id, from, until, overAt: Math.min(ticks.length, until + 1), fault, error: 0 };
  });
}

// ── slow ────────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Work {
  /** Worker time that was spent, in nanoseconds. */
  readonly spent: number;
  /** Pieces of work that ended. */
  readonly ended: number;
  readonly span: number;
}

function slowStretches({ ticks, line }: PhaseRecord, id: string): readonly Stretch[] {
  const works = ticks.map((tick) => workIn(tick, id));
  const usual = usualOf(works);
  if (usual === undefined) return [];
  const stretches: Stretch[] = [];
  let at = 0;
  while (at < works.length) {
    if (!isSlow(works[at], usual)) {
      at += 1;
      continue;
    }
    const from = at;
    while (at < works.length && isSlow(works[at], usual) && !isOver(works[at], works.slice(from + 1, at))) at += 1;
    const until = at;
    while (at < works.length && isSlow(works[at], usual)) at += 1;
    // The first tick may be half well.
    const inner = pooled(works.slice(until - from > ticksMin ? from + 1 : from, until));
    const drained = drainOf(works.slice(until - 1, at), usual);
    const whole = { spent: inner.spent + drained.spent, ended: inner.ended + drained.ended };
    const factor = perPiece(whole) / usual;
    if (until - from < ticksMin || factor < slowFactorMin) continue;
    const fault: Fault = { ...spanOf(ticks, line.at_ns, from, until), kind: 'slow', replica: id, factor };
    stretches.push({ id, from, until, overAt: at, fault, error: 1 / Math.sqrt(Math.max(1, whole.ended)) });
  }
  return stretches;
}

function workIn(tick: TickLine, id: string): Work | undefined {
  const { busy_workers_mean: busy, service_count: ended } = seenIn(tick, id) ?? {};
  return busy === undefined || ended === undefined
    ? undefined
    : { spent: busy * tick.span_ns, ended, span: tick.span_ns };
}

/** What a piece of work usually costs, though it may be slow most of the time. */
function usualOf(works: readonly (Work | undefined)[]): number | undefined {
  const each = works.flatMap((work) => (work === undefined || work.ended < 5 ? [] : [work.spent / work.ended]));
  const least = quantileOf(each, 0.1);
  if (least === undefined || least <= 0) return undefined;
  return medianOf(each.filter((value) => value < suspicious * least));
}

/** Whether less ended than the workers that were busy would have done. */
function isSlow(work: Work | undefined, usual: number): boolean {
  if (work === undefined) return false;
  const expected = work.spent / (suspicious * usual);
  return work.ended + deviations * Math.sqrt(expected) < expected;
}

/** Whether more ended than the slowness of the stretch so far allows. */
function isOver(work: Work | undefined, stretch: readonly (Work | undefined)[]): boolean {
  if (work === undefined || stretch.length === 0) return false;
  const allowed = work.spent / perPiece(pooled(stretch));
  return work.ended > allowed + overDeviations * Math.sqrt(allowed) + overPieces;
}

/** What was spent on, and became of, pieces that the first of these ticks left behind: all that is not usual work. */
function drainOf([before, ...works]: readonly (Work | undefined)[], usual: number): Work {
  const held = works.map((work) => Math.max(0, (work?.spent ?? 0) - (work?.ended ?? 0) * usual));
  const length = before === undefined || before.span === 0 ? 1 : before.span;
  const left = held.at(-1) ?? before?.spent ?? 0;
  return { spent: sum(held), ended: Math.max(0, ((before?.spent ?? 0) - left) / length), span: length };
}

function pooled(works: readonly (Work | undefined)[]): Work {
  return {
    spent: sum(works.map((work) => work?.spent ?? 0)),
    ended: sum(works.map((work) => work?.ended ?? 0)),
    span: sum(works.map((work) => work?.span ?? 0)),
  };
}

/** Where nothing ended, less than one did. */
const perPiece = ({ spent, ended }: Pick<Work, 'spent' | 'ended'>): number => spent / Math.max(1, ended);

// ── failing ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A replica that answers errors from the beginning to the end, without taking a worker for them. */
function failingOf(ticks: readonly TickLine[], id: string): readonly Fault[] {
  const own = ticks.flatMap((tick) => seenIn(tick, id) ?? []);
  if (own.some(({ queue_mean: queue = 0 }) => queue > 1)) return [];
  const answers = sum(own.map(({ finished = 0 }) => finished));
  const errors = sum(own.map(({ errors: kinds }) => kinds?.['status-5xx'] ?? 0));
  if (answers < answersMin || errors < failingMin * answers) return [];
  const inside = sum(own.map(({ in_flight_mean: inFlight = 0, busy_workers_mean: busy = 0 }) => inFlight - busy));
  const after = ns(Math.max(0, Math.round((inside / errors) * meanSpan(ticks))));
  return [{ at: ns(0), for: undefined, kind: 'fail', replica: id, share: Math.min(1, errors / answers), after }];
}

const meanSpan = (ticks: readonly TickLine[]): number => sum(ticks.map((tick) => tick.span_ns)) / ticks.length;

// ── what they have in common ────────────────────────────────────────────────────────────────────────────────────────

const seenIn = (tick: TickLine, id: string): ReplicaTick | undefined => tick.replicas.find((one) => one.id === id);

function runsOf(marks: readonly boolean[]): readonly { readonly from: number; readonly until: number }[] {
  return marks.flatMap((mark, from) => {
    if (!mark || marks[from - 1] === true) return [];
    const length = marks.slice(from).findIndex((one) => !one);
    return [{ from, until: length < 0 ? marks.length : from + length }];
  });
}

/** Without an end where it lasted to the end of the record. */
function spanOf(
  ticks: readonly TickLine[],
  beganAt: number,
  from: number,
  until: number,
): { readonly at: Duration; readonly for: Duration | undefined } {
  const at = (ticks[from]?.at_ns ?? beganAt) - beganAt;
  const end = ticks[until]?.at_ns;
  return { at: ns(at), for: end === undefined ? undefined : ns(end - beganAt - at) };
}

function sentenceOf(fault: Fault): string {
  const when =
    fault.for === undefined
      ? fault.at === 0
        ? 'all the time'
        : `from ${inSeconds(fault.at)} s on`
      : `from ${inSeconds(fault.at)} s for ${inSeconds(fault.for)} s`;
  switch (fault.kind) {
    case 'slow':
      return `${fault.replica} was ${fault.factor.toFixed(fault.factor < 10 ? 1 : 0)} times slower than usual ${when}`;
    case 'kill':
      return `${fault.replica} was gone ${when}`;
    case 'fail':
      return `${fault.replica} answered ${(100 * fault.share).toFixed(0)} % with errors ${when}`;
    default:
      return `${fault.replica} stood still ${when}`;
  }
}

const inSeconds = (value: number): string => (value / 1e9).toFixed(0);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
