// stats: counting and judging. Pure.

export { type Bucket, Histogram, type Quantile } from './stats/histogram.ts';
export {
  type HistogramFields,
  histogramFields,
  histogramOfFields,
  type UnfinishedFields,
} from './stats/histogram-fields.ts';
export { type HlogInterval, readHgrm, readHlog, writeHgrm, writeHlog } from './stats/histogram-hdr.ts';
export { type ExponentialPoint, exponentialPoint, histogramOfPoint } from './stats/histogram-otlp.ts';
