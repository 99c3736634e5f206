// How something is spread over a fleet: who has most, how many times its fair share that is, and whether chance could do it.

import { uniformityTest } from '../../stats.ts';
import type { Fleet, Member } from './fleet.ts';

export interface Spread {
  readonly fleet: Fleet;
  /** Members that say how much they have. */
  readonly members: readonly Member[];
  readonly total: number;
  readonly hot: Member;
  readonly most: number;
  /** What the hot one has of all. */
  readonly share: number;
  /** How many times its fair share that is. */
  readonly times: number;
  /** Probability that equal places get counts at least as uneven. */
  readonly luck: number;
}

type Numeric = 'requests' | 'connections' | 'errors' | 'inFlight' | 'cpu' | 'bytes';

/** Undefined for fewer than two members that say, or nothing to spread. `fairShares`: weights of members that should not have the
 * same; they count where every member has one. */
export function spreadOf(fleet: Fleet, measure: Numeric, fairShares?: ReadonlyMap<string, number>): Spread | undefined {
  const members = fleet.members.filter((member) => member[measure] !== undefined);
  const values = members.map((member) => member[measure] ?? 0);
  const total = values.reduce((sum, value) => sum + value, 0);
  if (members.length < 2 || total <= 0) return undefined;
  const weights = weightsOf(members, fairShares);
  const times = values.map((value, place) => (value / total) * (weights.total / (weights.each[place] ?? 1)));
  const place = times.indexOf(Math.max(...times));
  const [hot, most] = [members[place], values[place]];
  if (hot === undefined || most === undefined) return undefined;
  return {
    fleet,
    members,
    total,
    hot,
    most,
    share: most / total,
    times: times[place] ?? 1,
    luck: uniformityTest(values, weights.each)?.pMoreUneven ?? 1,
  };
}

function weightsOf(members: readonly Member[], fairShares: ReadonlyMap<string, number> | undefined) {
  const known = members.flatMap(({ id }) => fairShares?.get(id) ?? []).filter((weight) => weight > 0);
  const each = known.length === members.length ? known : members.map(() => 1);
  return { each, total: each.reduce((sum, weight) => sum + weight, 0) };
}

/** The fleet in which the measure is spread least evenly. */
export function unevenest(
  fleets: readonly Fleet[],
  measure: Numeric,
  fairShares?: ReadonlyMap<string, number>,
): Spread | undefined {
  return fleets
    .flatMap((fleet) => spreadOf(fleet, measure, fairShares) ?? [])
    .toSorted((one, other) => other.times - one.times)[0];
}

/** Chance could do it, or the busiest has little more than its share. */
export const isEven = ({ times, luck }: Spread): boolean => times <= 1.3 || luck > 0.01;

/** Largest ÷ smallest of the values that are there; undefined for fewer than two. */
export function rangeOf(
  values: readonly number[],
): { readonly least: number; readonly most: number; readonly times: number } | undefined {
  const known = values.filter((value) => Number.isFinite(value));
  if (known.length < 2) return undefined;
  const least = Math.min(...known);
  const most = Math.max(...known);
  return { least, most, times: least > 0 ? most / least : most > 0 ? Number.POSITIVE_INFINITY : 1 };
}

/** Times of members that have had enough requests to say so. */
export function timesOf(members: readonly Member[], requestsMin = 10): number[] {
  return members.flatMap(({ meanSeconds, requests }) =>
    meanSeconds === undefined || (requests !== undefined && requests < requestsMin) ? [] : [meanSeconds],
  );
}

export function mostOf(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

/** `the 8 replicas of web`, `the 3 servers`. */
export function named(fleet: Fleet, count = fleet.members.length): string {
  const kind = fleet.by === 'replica' || fleet.by === 'endpoint' || fleet.by === 'name' ? 'replica' : fleet.by;
  return `the ${count} ${kind}s${fleet.of === '' ? '' : ` of ${fleet.of}`}`;
}
