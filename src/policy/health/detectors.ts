// Who is worse than the rest? Plain arithmetic on what each endpoint did in one interval, each question a function of its own.
// They compare like with like: an endpoint is measured against the others in the same interval, so that a bad hour for all
// makes nobody an outlier. None of them looks at an endpoint with too few requests, or at a fleet too small to have a rest.

export interface IntervalCounts {
  readonly requests: number;
  readonly failures: number;
  /** Undefined when there were none. */
  readonly medianLatency: number | undefined;
}

export interface SuccessRateQuestion {
  /** Endpoints with enough requests that are needed to speak of a mean: 5. */
  readonly endpointsMin: number;
  readonly requestsMin: number;
  /** How many standard deviations below the mean is an outlier: 1.9. */
  readonly deviations: number;
}

/** Indices of those whose success rate is below mean − deviations · σ of the fleet. */
export function belowTheRest(counts: readonly IntervalCounts[], question: SuccessRateQuestion): readonly number[] {
  const enough = counts.flatMap((one, index) => (one.requests >= question.requestsMin ? [index] : []));
  if (enough.length < question.endpointsMin) return [];
  const rates = enough.map((index) => successRate(counts[index]));
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / rates.length;
  const threshold = mean - question.deviations * Math.sqrt(variance);
  return enough.filter((_, place) => (rates[place] ?? 1) < threshold);
}

export interface FailureShareQuestion {
  readonly endpointsMin: number;
  readonly requestsMin: number;
  /** Failures ÷ requests, 0 to 1: at or above it is an outlier. */
  readonly threshold: number;
}

/** Indices of those that fail at least so often, whatever the others do. */
export function failingOften(counts: readonly IntervalCounts[], question: FailureShareQuestion): readonly number[] {
  const enough = counts.flatMap((one, index) => (one.requests >= question.requestsMin ? [index] : []));
  if (enough.length < question.endpointsMin) return [];
  return enough.filter((index) => 1 - successRate(counts[index]) >= question.threshold);
}

export interface LatencyQuestion {
  readonly endpointsMin: number;
  readonly requestsMin: number;
  /** How many times the median of the fleet's medians is an outlier. */
  readonly factor: number;
}

/** Indices of those whose median latency is so many times the median of all medians. Medians twice, so that neither one slow
 * request nor one slow endpoint moves the yardstick. */
export function slowerThanTheRest(counts: readonly IntervalCounts[], question: LatencyQuestion): readonly number[] {
  const enough = counts.flatMap((one, index) =>
    one.requests >= question.requestsMin && one.medianLatency !== undefined ? [index] : [],
  );
  if (enough.length < question.endpointsMin) return [];
  const medians = enough.map((index) => counts[index]?.medianLatency ?? 0);
  const yardstick = medians.toSorted((one, other) => one - other)[Math.floor((medians.length - 1) / 2)] ?? 0;
  return enough.filter((_, place) => (medians[place] ?? 0) > question.factor * yardstick);
}

function successRate(counts: IntervalCounts | undefined): number {
  return counts === undefined || counts.requests === 0 ? 1 : 1 - counts.failures / counts.requests;
}
