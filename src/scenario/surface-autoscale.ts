// How a service's replicas come and go, as a person writes it.

import type { z } from 'zod';
import { duration, mapping, oneOf, share, timeout, whole } from './surface-leaves.ts';

/** The most that an autoscaler may be told to start; each is a process. */
const scaledMax = 10_000;

export const autoscaleSchema = mapping({
  min: whole(1, scaledMax).prefault(1).describe('No fewer replicas than this.'),
  max: whole(1, scaledMax).describe('No more than this.'),
  metric: oneOf(['workers', 'cpu'])
    .prefault('workers')
    .describe('What is watched: workers that are busy, or processor time used of the quota or the cores.'),
  target: share().prefault('70%').describe('How much of it is wanted, on average: 0 to 1 or 0% to 100%.'),
  every: timeout().prefault('15s').describe('From one look to the next.'),
  tolerance: share().prefault('10%').describe('Up to this share off the target nothing changes.'),
  start_lag: duration().prefault('30s').describe('From the decision until a new replica takes requests.'),
  scale_down_after: duration().prefault('5m').describe('Fewer replicas must have been enough for so long.'),
}).superRefine(({ min, max, target }, context) => {
  if (min > max) context.addIssue({ code: 'custom', message: 'min is above max: expected min ≤ max' });
  if (target === 0)
    context.addIssue({ code: 'custom', path: ['target'], message: 'expected a target above 0, found 0' });
});

export type AutoscaleSurface = z.output<typeof autoscaleSchema>;
