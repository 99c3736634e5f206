// A phase second by second, for theories in which the order of things matters: what was asked and answered, how many replicas were
// left, how hard the workers worked, and how long a piece of work took. A failure that begins and ends inside a phase is
// invisible in its means.
//
// Shares are of the whole fleet; what nobody observed is undefined.

import type { TickLine } from '../record.ts';
import { type Evidence, workersOf } from './evidence.ts';
import { spanOf, tickOf } from './phase-evidence.ts';
import { sum, sumKnown } from './quantity.ts';
import type { Reading } from './theory.ts';

export interface Moment {
  readonly tick: TickLine;
  /** Seconds since the first judged one. */
  readonly at: number;
  readonly seconds: number;
  /** Requests that came due, good answers, and requests that reached the balancer, a second each. */
  readonly asked: number | undefined;
  readonly answered: number | undefined;
  readonly tries: number | undefined;
  /** Work done a second, whether its answer was still wanted or not. */
  readonly done: number | undefined;
  /** Busy workers ÷ workers: 0–1. */
  readonly busy: number | undefined;
  /** Replicas that the balancer asks. */
  readonly inRotation: number | undefined;
  /** Mean worker time of what ended, in seconds. */
  readonly service: number | undefined;
}

export function courseOf(evidence: Evidence): readonly Moment[] {
  const { ticks } = evidence.baseline;
  const began = ticks[0]?.at_ns ?? 0;
  const workers = sumKnown(evidence.ids.map((id) => workersOf(evidence, id)));
  return ticks.map((tick): Moment => {
    const seconds = spanOf(tick);
    const own = evidence.ids.map((id) => tickOf(tick, id));
    const clients = tick.clients;
    const busy = sumKnown(own.map((replica) => replica?.busy_workers_mean));
    const done = sumKnown(own.map((replica) => replica?.service_count));
    const work = sumKnown(own.map((replica) => replica?.service_sum_ns));
    return {
      tick,
      at: (tick.at_ns - began) / 1e9,
      seconds,
      asked: clients.length === 0 ? undefined : sum(clients.map((group) => group.planned)) / seconds,
      answered: clients.length === 0 ? undefined : sum(clients.map((group) => group.answered)) / seconds,
      tries: triesOf(tick, seconds),
      done: done === undefined ? undefined : done / seconds,
      busy: busy === undefined || workers === undefined || workers === 0 ? undefined : busy / workers,
      inRotation: tick.gateway?.healthy,
      service: done === undefined || work === undefined || done === 0 ? undefined : work / done / 1e9,
    };
  });
}

/** What its clients tried, as they count themselves, or as the balancer counted what reached it. */
function triesOf({ clients, gateway }: TickLine, seconds: number): number | undefined {
  const again = sumKnown(clients.map((group) => group.retries));
  if (again !== undefined) return (sum(clients.map((group) => group.planned)) + again) / seconds;
  return gateway?.requests === undefined ? undefined : gateway.requests / seconds;
}

/** The middle of several values; undefined when there is none. */
export function median(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined).toSorted((one, other) => one - other);
  return known[Math.floor(known.length / 2)];
}

/** Mean of a quantity over moments, weighted by their lengths; undefined when nobody observed it in any of them. */
export function meanOf(moments: readonly Moment[], of: (moment: Moment) => number | undefined): number | undefined {
  const known = moments.flatMap((moment) => {
    const value = of(moment);
    return value === undefined ? [] : [{ value, seconds: moment.seconds }];
  });
  const seconds = sum(known.map((one) => one.seconds));
  return seconds === 0 ? undefined : sum(known.map((one) => one.value * one.seconds)) / seconds;
}

/** The first or the last quarter of a course, three moments at least. */
export function firstQuarter(course: readonly Moment[]): readonly Moment[] {
  return course.slice(0, quarter(course));
}
export function lastQuarter(course: readonly Moment[]): readonly Moment[] {
  return course.slice(-quarter(course));
}
const quarter = (course: readonly Moment[]): number => Math.max(3, Math.floor(course.length / 4));

/** What one replica can do when nothing is the matter with it: workers ÷ the middle one of all worker times of a second. */
export function usualCapacity(evidence: Evidence): number | undefined {
  const workers = workersOf(evidence, evidence.ids[0]);
  const service = usualService(evidence);
  return workers === undefined || service === undefined || service === 0 ? undefined : workers / service;
}

/** The middle one of all replicas' worker times of a second, in seconds. */
export function usualService(evidence: Evidence): number | undefined {
  return median(evidence.baseline.ticks.flatMap((tick) => evidence.ids.map((id) => serviceIn(tick, id))));
}

/** Mean worker time of one replica in a tick, in seconds. */
export function serviceIn(tick: TickLine, id: string): number | undefined {
  const replica = tickOf(tick, id);
  if (replica?.service_sum_ns === undefined || replica.service_count === undefined || replica.service_count < 5) {
    return undefined;
  }
  return replica.service_sum_ns / replica.service_count / 1e9;
}

/** A number without an error of its own: counted over the whole phase. */
export const counted = (value: number): Reading => ({ value, low: value, high: value });
