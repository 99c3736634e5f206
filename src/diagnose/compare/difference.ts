// How much a figure differs between two sets of runs, and how far off that may be.
//
// A run is one piece of evidence, however many requests it held: what one machine does in one minute hangs together. So the error
// comes from how runs of one side scatter, and Student's distribution pays for there being few of them. Where the runs of both
// sides alternate (A-B-B-A) a machine that gets slower in a straight line is told apart from a release that is slower:
//
//   y = a + effect · [candidate] + drift · order + noise         least squares, n − 3 degrees of freedom
//
// Runs of a quiet machine may agree by chance better than their own seconds do. The error is therefore never taken smaller than what
// the scatter inside the runs gives. One run a side has nothing but that, and says so: it cannot know what another run would show.

import { studentAbove, studentQuantile } from '../../stats.ts';

/** One figure of one run. */
export interface RunValue {
  readonly value: number;
  /** Standard error from inside the run, in the same unit; undefined where nothing tells. */
  readonly error: number | undefined;
  /** Which run it was, counted over both sides in the order of time; undefined when that is not known. */
  readonly order: number | undefined;
}

export interface Difference {
  /** Candidate less base. */
  readonly estimate: number;
  readonly error: number;
  readonly degrees: number;
  /** Where the error is from: runs (with or without a drift between them), or one run a side. */
  readonly basis: 'runs' | 'runs with drift' | 'inside one run';
}

/** Degrees of freedom that the seconds of a run are worth at most: neighbours resemble each other. */
const degreesInside = 10;
/** Fewer runs than this cannot also pay for the drift. */
const runsForDrift = 6;

/** Undefined when a side has no run, or neither runs nor their seconds tell anything about the error. */
export function differenceOf(base: readonly RunValue[], candidate: readonly RunValue[]): Difference | undefined {
  if (base.length === 0 || candidate.length === 0) return undefined;
  const inside = errorInside(base, candidate);
  if (base.length + candidate.length < 4 || base.length < 2 || candidate.length < 2) {
    if (inside === undefined) return undefined;
    const estimate = mean(candidate) - mean(base);
    return { estimate, error: inside, degrees: degreesInside, basis: 'inside one run' };
  }
  const between = withDrift(base, candidate) ?? withoutDrift(base, candidate);
  return { ...between, error: Math.max(between.error, inside ?? 0) };
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Where the difference lies with this confidence. */
export function intervalOf({ estimate, error, degrees }: Difference, confidence: number): Interval {
  const half = error === 0 ? 0 : studentQuantile(0.5 + confidence / 2, degrees) * error;
  return { low: estimate - half, high: estimate + half };
}

/** Chance that no difference at all would look at least this large in this direction. */
export function chanceOf({ estimate, error, degrees }: Difference, direction: 1 | -1): number {
  if (error === 0) return estimate * direction > 0 ? 0 : 1;
  return studentAbove((estimate * direction) / error, degrees);
}

/** Runs a side until the interval reaches no farther than `within` to either side. */
export function runsFor({ error, degrees }: Difference, runs: number, within: number): number {
  const wanted = studentQuantile(0.975, Math.max(degrees, 10)) * error;
  return Math.max(runs + 1, Math.ceil(runs * (wanted / within) ** 2));
}

function withDrift(base: readonly RunValue[], candidate: readonly RunValue[]): Difference | undefined {
  const rows = [...base.map((run) => ({ ...run, side: 0 })), ...candidate.map((run) => ({ ...run, side: 1 }))].flatMap(
    ({ value, order, side }) => (order === undefined ? [] : [{ value, order, side }]),
  );
  const count = base.length + candidate.length;
  if (rows.length < count || count < runsForDrift) return undefined;
  const orders = rows.map(({ order }) => order);
  const sides = rows.map(({ side }) => side);
  const sideLeft = residuals(sides, orders);
  const valueLeft = residuals(
    rows.map(({ value }) => value),
    orders,
  );
  const own = squares(sideLeft);
  // All of one side before all of the other: what is drift and what is release cannot be told.
  if (own < 0.7 * squares(centred(sides))) return undefined;
  const estimate = dot(sideLeft, valueLeft) / own;
  const left = squares(valueLeft.map((value, index) => value - estimate * (sideLeft[index] ?? 0)));
  const degrees = count - 3;
  return { estimate, error: Math.sqrt(left / degrees / own), degrees, basis: 'runs with drift' };
}

/** Welch's: the sides may scatter differently. */
function withoutDrift(base: readonly RunValue[], candidate: readonly RunValue[]): Difference {
  const one = squareError(base);
  const other = squareError(candidate);
  const square = one + other;
  const degrees =
    square === 0
      ? base.length + candidate.length - 2
      : square ** 2 / (one ** 2 / (base.length - 1) + other ** 2 / (candidate.length - 1));
  return { estimate: mean(candidate) - mean(base), error: Math.sqrt(square), degrees, basis: 'runs' };
}

function errorInside(base: readonly RunValue[], candidate: readonly RunValue[]): number | undefined {
  const parts = [base, candidate].map((side) => {
    const errors = side.flatMap(({ error }) => error ?? []);
    return errors.length < side.length ? undefined : Math.hypot(...errors) / side.length;
  });
  const [one, other] = parts;
  return one === undefined || other === undefined ? undefined : Math.hypot(one, other);
}

const mean = (runs: readonly RunValue[]): number => sum(runs.map(({ value }) => value)) / runs.length;

const squareError = (runs: readonly RunValue[]): number =>
  squares(centred(runs.map(({ value }) => value))) / (runs.length - 1) / runs.length;

/** What a straight line over the order leaves. */
function residuals(values: readonly number[], orders: readonly number[]): readonly number[] {
  const along = centred(orders);
  const left = centred(values);
  const all = squares(along);
  const slope = all === 0 ? 0 : dot(along, left) / all;
  return left.map((value, index) => value - slope * (along[index] ?? 0));
}

function centred(values: readonly number[]): readonly number[] {
  const centre = sum(values) / values.length;
  return values.map((value) => value - centre);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const dot = (one: readonly number[], other: readonly number[]): number =>
  sum(one.map((value, index) => value * (other[index] ?? 0)));
const squares = (values: readonly number[]): number => dot(values, values);
