// What several drivers did, as if one had done it: tallies add exactly, histograms bucket by bucket.

import { type Duration, ns, start } from '../base.ts';
import type { DriverCut, DriverEnd } from './driver.ts';
import { HoldCounts, type HeldCut } from './hold-counts.ts';
import type { InFlightSpan } from './in-flight.ts';
import { Tally } from './tally.ts';

/** Cuts of several drivers as one. Means of what is in flight add exactly; the least and the greatest of a sum lie within the
 * sums of the parts', which are given. */
export function mergedCut(cuts: readonly DriverCut[], groups: number, held: number): DriverCut {
  return {
    at: cuts.reduce((latest, { at }) => (at > latest ? at : latest), start),
    span: ns(Math.max(0, ...cuts.map(({ span }) => span))),
    cpu: ns(cuts.reduce((sum, { cpu }) => sum + cpu, 0)),
    groups: Array.from({ length: groups }, (_, index) => mergedGroup(cuts.flatMap((cut) => cut.groups[index] ?? []))),
    held: Array.from({ length: held }, (_, index) => mergedHeld(cuts.flatMap((cut) => cut.held[index] ?? []))),
  };
}

function mergedGroup(parts: readonly DriverCut['groups'][number][]): DriverCut['groups'][number] {
  const tally = new Tally();
  for (const part of parts) tally.add(part.tally);
  const sum = (what: keyof InFlightSpan): number => parts.reduce((total, part) => total + part.inFlight[what], 0);
  return { tally, inFlight: { mean: sum('mean'), min: sum('min'), max: sum('max') } };
}

function mergedHeld(parts: readonly HeldCut[]): HeldCut {
  const counts = new HoldCounts();
  for (const part of parts) counts.addBeside(part.counts);
  const sum = (what: 'asked' | 'held' | 'connecting'): number => parts.reduce((total, part) => total + part[what], 0);
  return { asked: sum('asked'), held: sum('held'), connecting: sum('connecting'), counts };
}

export function mergedEnd(ends: readonly DriverEnd[], groups: number, held: number): DriverEnd {
  return {
    span: ns(Math.max(0, ...ends.map(({ span }): Duration => span))),
    groups: Array.from({ length: groups }, (_, index) => {
      const tally = new Tally();
      for (const end of ends) {
        const part = end.groups[index];
        if (part !== undefined) tally.add(part);
      }
      return tally;
    }),
    held: Array.from({ length: held }, (_, index) => mergedHeld(ends.flatMap((end) => end.held[index] ?? []))),
    limits: ends.flatMap(({ limits }) => limits),
  };
}

/** Two cuts of the same drivers, one after the other, as one. */
export function laterCut(first: DriverCut, second: DriverCut): DriverCut {
  const span = ns(first.span + second.span);
  return {
    at: second.at > first.at ? second.at : first.at,
    span,
    cpu: ns(first.cpu + second.cpu),
    groups: first.groups.map((group, index) => {
      const later = second.groups[index];
      if (later === undefined) return group;
      const tally = new Tally();
      tally.add(group.tally);
      tally.add(later.tally);
      const area = group.inFlight.mean * first.span + later.inFlight.mean * second.span;
      return {
        tally,
        inFlight: {
          mean: span > 0 ? area / span : later.inFlight.mean,
          min: Math.min(group.inFlight.min, later.inFlight.min),
          max: Math.max(group.inFlight.max, later.inFlight.max),
        },
      };
    }),
    held: first.held.map((held, index) => {
      const later = second.held[index];
      if (later === undefined) return held;
      const counts = new HoldCounts();
      counts.add(held.counts);
      counts.add(later.counts);
      return { ...later, counts };
    }),
  };
}
