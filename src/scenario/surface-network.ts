// The network between processes, and what goes wrong with it, as a person writes them.

import { z } from 'zod';
import { distribution } from './surface-distribution.ts';
import { duration, mapping, replica, share } from './surface-leaves.ts';

export const networkSchema = mapping({
  delay: distribution
    .prefault('constant 500us')
    .describe('What each message takes, one way: constant, exponential, uniform or log-normal.'),
  between_zones: distribution
    .optional()
    .describe('The same between two processes that stand in different zones. Without it, as everywhere.'),
  loss: share()
    .prefault('0%')
    .describe('Messages that are lost, 0 to 1 or 0% to 100%. TCP sends them again, so that they are late.'),
});

const sideError = 'a zone, a service, a dependency, a client group, a replica, or gateway';
const side = (): z.ZodString => z.string({ error: sideError }).regex(/^[a-z][a-z0-9-]*$/, { error: sideError });

/** Faults of the network among the others: their keys in a list of faults. */
export const networkFaults = {
  partition: mapping({
    of: side().describe('What is cut off: a zone, a service, a dependency, a client group, a replica, or gateway.'),
    from: side().optional().describe('From what. Without it, from everything.'),
  })
    .optional()
    .describe('Nothing gets through between two sides; what is sent again after the end arrives.'),
  link: mapping({
    replica: replica(),
    delay: duration().prefault('0s').describe('Added to each message, one way.'),
    loss: share().prefault('0%').describe('Messages that are lost besides, 0 to 1 or 0% to 100%.'),
  })
    .optional()
    .describe("One replica's way to all others is slow, or loses messages."),
};

export const networkFaultKinds = ['partition', 'link'] as const;

export type NetworkSurface = z.output<typeof networkSchema>;
