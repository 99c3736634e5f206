// stats: counting and judging. Pure.

// Counting.
export { Ewma } from './stats/ewma.ts';
export { type Bucket, Histogram, type Quantile } from './stats/histogram.ts';
export {
  type HistogramFields,
  histogramFields,
  histogramOfFields,
  type UnfinishedFields,
} from './stats/histogram-fields.ts';
export {
  hlogHead,
  type HlogInterval,
  hlogLine,
  readHgrm,
  readHlog,
  writeHgrm,
  writeHlog,
} from './stats/histogram-hdr.ts';
export { type ExponentialPoint, exponentialPoint, histogramOfPoint } from './stats/histogram-otlp.ts';
export { Level, type LevelSpan } from './stats/level.ts';
export { meanOf, Moments, varianceOf } from './stats/moments.ts';
export { nth } from './stats/nth.ts';
export { medianOf, quantileInterval, quantileOf } from './stats/quantile.ts';
export { WindowCount } from './stats/window.ts';

// Judging.
export { type BootstrapInterval, bootstrapInterval, type BootstrapOptions } from './stats/bootstrap.ts';
export { type ChangeOptions, type ChangePoint, changePoints } from './stats/change-points.ts';
export {
  binomialAtMost,
  binomialUpperBound,
  chiSquareAbove,
  chiSquareBelow,
  normalAbove,
  normalBelow,
  normalQuantile,
  poissonAtMost,
  studentAbove,
  studentBelow,
  studentQuantile,
} from './stats/distributions.ts';
export {
  batchLengthMin,
  type BatchMeans,
  batchMeans,
  type BatchOptions,
  type MeanInterval,
  meanInterval,
} from './stats/intervals.ts';
export { benjaminiHochbergAdjusted, holmAdjusted } from './stats/many-tests.ts';
export { type SymmetryOptions, type SymmetryTest, symmetryTest, symmetryTests } from './stats/symmetry.ts';
export { type Point, type Trend, trendOf, trendPointsMax } from './stats/trend.ts';
export {
  type KolmogorovTest,
  kolmogorovTest,
  type MannWhitneyTest,
  mannWhitneyTest,
  type PermutationOptions,
  permutationTest,
  type WelchTest,
  welchTest,
} from './stats/two-samples.ts';
export { coefficientOfVariation, giniIndex, jainIndex, maxOverMean } from './stats/unevenness.ts';
export { type DispersionTest, dispersionTest, type UniformityTest, uniformityTest } from './stats/uniformity.ts';
export { type WarmUp, warmUpCut } from './stats/warm-up.ts';

// Queueing: what theory expects.
export {
  type ClosedNetwork,
  closedNetwork,
  type ClosedNetworkResult,
  type Station,
  type StationResult,
} from './stats/queueing/closed-network.ts';
export { type FiniteQueue, finiteQueue, type FiniteQueueResult } from './stats/queueing/finite-queue.ts';
export {
  type Asymptotes,
  asymptotes,
  type ClosedSystem,
  littleInFlight,
  responseTime,
  rotationBound,
  utilisation,
} from './stats/queueing/laws.ts';
export { erlangB, erlangC, type ManyServers, manyServers, type SteadyQueue } from './stats/queueing/many-servers.ts';
export { constantServiceQuantile, meanWait, type OneServer } from './stats/queueing/one-server.ts';
