// When did the mean change? All changes of a series at once, by the exact search for the division into segments that makes
//
//     Σ over segments  Σ (x − segment mean)² / σ²   +   penalty · number of changes
//
// smallest. PELT (Killick, Fearnhead and Eckley, J. American Stat. Assoc. 107, 2012) drops beginnings that can never again be
// best, so it is linear where changes are many. The penalty is 3 ln n, about that of Zhang and Siegmund's modified BIC
// (Biometrics 63, 2007). The noise σ is taken from differences of neighbours, which a change of the mean hardly touches.
//
// The noise must be without memory: a queue length wanders, and every wander looks like a change. Give means of longer spans
// for such series, or a σ of your own.
//
// How sure is the place? For a shift of δ the error of the place, counted in (σ/δ)² values, has one known distribution (the
// maximum of a two-sided Brownian motion with drift; Yao, Annals of Statistics 15, 1987; used so by Bai, 1997): 95 % lie
// within 11. A shift of three σ is placed to within two values; one of half a σ to within 45.

import { assert } from '../base.ts';
import { normalBelow } from './distributions.ts';
import { meanOf, varianceOf } from './moments.ts';
import { medianOf } from './quantile.ts';

export interface ChangePoint {
  /** Index of the first value after the change. */
  readonly at: number;
  /** Between these, both included, it lies with the confidence asked for. */
  readonly low: number;
  readonly high: number;
  /** Mean of the segment that ends here, and of the one that begins. */
  readonly before: number;
  readonly after: number;
}

export interface ChangeOptions {
  /** Deviation of the noise. Default: from the differences of neighbours. */
  readonly sigma?: number;
  /** Values between two changes, at least. Default 3. */
  readonly segmentMin?: number;
  /** Of the interval for the place. Default 0.95. */
  readonly confidence?: number;
}

/** Changes in rising order; none for a series too short to have one, or without any variation. */
export function changePoints(series: readonly number[], options: ChangeOptions = {}): readonly ChangePoint[] {
  const { segmentMin = 3, confidence = 0.95, sigma = noiseOf(series) } = options;
  assert(segmentMin >= 1, 'a segment has at least one value');
  if (sigma === 0 || series.length < 2 * segmentMin) return [];
  const penalty = 3 * Math.log(series.length);
  const places = bestDivision(series, sigma, segmentMin, penalty);
  const ends = [0, ...places, series.length];
  const reach = placeReach(confidence);
  return places.map((at, index) => {
    const [from, to] = [ends[index] ?? 0, ends[index + 2] ?? series.length];
    const before = meanOf(series.slice(from, at)) ?? 0;
    const after = meanOf(series.slice(at, to)) ?? 0;
    // One more on each side: places are whole numbers, the distribution is not.
    const half = Math.floor(reach * (sigma / (after - before)) ** 2) + 1;
    return { at, low: Math.max(from + 1, at - half), high: Math.min(to - 1, at + half), before, after };
  });
}

/** Robust: the median size of the differences of neighbours, or their deviation where most neighbours are equal. */
function noiseOf(series: readonly number[]): number {
  const differences = series.slice(1).map((value, index) => value - (series[index] ?? 0));
  const median = medianOf(differences.map(Math.abs)) ?? 0;
  // Of a normal variable the median size is 0.6745 deviations, and a difference of two has √2 of the deviation of one.
  if (median > 0) return median / (0.6744897501960817 * Math.SQRT2);
  return Math.sqrt((varianceOf(differences) ?? 0) / 2);
}

/** Where the best division has its changes. */
function bestDivision(
  series: readonly number[],
  sigma: number,
  segmentMin: number,
  penalty: number,
): readonly number[] {
  const cost = segmentCosts(series, sigma);
  /** Least cost of the values before each index, and where their last segment begins. */
  const least: number[] = [-penalty];
  const lastStart: number[] = [0];
  let starts: number[] = [0];
  for (let end = segmentMin; end <= series.length; end++) {
    // A beginning that costs more at some index than the best way to get there can be dropped: whatever follows, a change at
    // that index beats it. But the change must leave room for the segment that ends here.
    const pruneAt = end - segmentMin;
    const bound = least[pruneAt] ?? Infinity;
    starts = starts.filter(
      (from) => pruneAt - from < segmentMin || (least[from] ?? Infinity) + cost(from, pruneAt) <= bound,
    );
    let best = Infinity;
    for (const from of starts) {
      const total = (least[from] ?? Infinity) + cost(from, end) + penalty;
      if (total >= best) continue;
      best = total;
      lastStart[end] = from;
    }
    least[end] = best;
    const next = end + 1 - segmentMin;
    if (least[next] !== undefined && next > 0) starts.push(next);
  }
  const places: number[] = [];
  let end = series.length;
  while (end > 0) {
    end = lastStart[end] ?? 0;
    if (end > 0) places.unshift(end);
  }
  return places;
}

/** Squared distance of the values from … to − 1 from their mean, in σ². Constant time each, from running sums. */
function segmentCosts(series: readonly number[], sigma: number): (from: number, to: number) => number {
  // Distances from the mean of all, so that the squares stay small beside what is subtracted.
  const mean = meanOf(series) ?? 0;
  const sums = [0];
  const squares = [0];
  series.forEach((value, index) => {
    const scaled = (value - mean) / sigma;
    sums.push((sums[index] ?? 0) + scaled);
    squares.push((squares[index] ?? 0) + scaled * scaled);
  });
  return (from, to) => {
    const sum = (sums[to] ?? 0) - (sums[from] ?? 0);
    return Math.max(0, (squares[to] ?? 0) - (squares[from] ?? 0) - (sum * sum) / (to - from));
  };
}

/** Within how many (σ/δ)² of the truth a place lies with this probability. */
export function placeReach(confidence: number): number {
  assert(confidence > 0 && confidence < 1, 'a confidence lies between 0 and 1');
  let low = 0;
  let high = 1000;
  for (let halving = 0; halving < 60; halving++) {
    const middle = (low + high) / 2;
    if (placeBelow(middle) < 0.5 + confidence / 2) low = middle;
    else high = middle;
  }
  return high;
}

/** Yao's distribution for x ≥ 0: P(argmax of W(s) − |s|/2 is at most x). */
function placeBelow(x: number): number {
  const root = Math.sqrt(x);
  // e^x times the tail would be ∞ · 0 far out, where the term is long nothing.
  const last = x > 200 ? 0 : 1.5 * Math.exp(x) * normalBelow(-1.5 * root);
  return 1 + (root * Math.exp(-x / 8)) / Math.sqrt(2 * Math.PI) - ((x + 5) / 2) * normalBelow(-root / 2) + last;
}
