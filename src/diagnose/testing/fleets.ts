// The fleets that the theories are tested on, by name: four replicas of four workers and 20 ms of exponential work unless the
// name says otherwise.

import type { FleetSpec } from './fleet.ts';
import { replicas, type RunSpec } from './run.ts';

type Fleet = Omit<RunSpec, 'seed'>;

const closed = (users: number, thinkSeconds = 0): FleetSpec['demand'] => ({ model: 'closed', users, thinkSeconds });
const open = (ratePerSecond: number, arrivals: 'constant' | 'poisson' = 'poisson'): FleetSpec['demand'] => ({
  model: 'open',
  ratePerSecond,
  arrivals,
});

/** 64 users without a thought over turns; `slow` is slower by `factor`. Above its knee four times over. */
export function convoyFleet(slow: string, factor: number, users = 64): Fleet {
  return { fleet: { replicas: replicas(4, slow, factor), choice: 'round-robin', demand: closed(users) } };
}

/** Below the knee: 40 users who think for 100 ms. */
export function thoughtfulFleet(slow: string, factor: number): Fleet {
  return { fleet: { replicas: replicas(4, slow, factor), choice: 'round-robin', demand: closed(40, 0.1) } };
}

/** Above the knee, everybody equal. */
export const evenFleet: Fleet = {
  fleet: { replicas: replicas(4), choice: 'round-robin', demand: closed(64) },
};

/** Turns at `rate` requests a second, everybody equal. */
export function openFleet(rate: number, arrivals: 'constant' | 'poisson' = 'poisson'): Fleet {
  return { fleet: { replicas: replicas(4), choice: 'round-robin', demand: open(rate, arrivals) } };
}

/** Clients take the first of the list. 240/s are more than the 200/s it can do, 80/s are not. */
export function pickFirstFleet(rate: number): Fleet {
  const fleet: FleetSpec = {
    replicas: replicas(4),
    choice: 'pick-first',
    demand: open(rate),
    timeoutSeconds: 1,
    queueLimit: 1024,
  };
  return { fleet, via: 'registry' };
}

/** Open turns, and one replica slower by `factor`. */
export function slowReplicaFleet(slow: string, factor: number, rate: number): Fleet {
  const fleet: FleetSpec = {
    replicas: replicas(4, slow, factor),
    choice: 'round-robin',
    demand: open(rate),
    queueLimit: 32,
  };
  return { fleet };
}

/** More than the 800/s that all can do. */
export function overloadFleet(rate: number): Fleet {
  return { fleet: { replicas: replicas(4), choice: 'round-robin', demand: open(rate), queueLimit: 32 } };
}

/** 500/s planned, 400/s sent. */
export const weakGenerator: Fleet = {
  fleet: { replicas: replicas(4), choice: 'round-robin', demand: open(500), sendsPerSecondMax: 400 },
};
