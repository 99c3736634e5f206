// A kind of incident: what it is called, and how to draw one with everything that it would leave behind.

import type { Draw } from './draw.ts';
import type { Signal } from './writers.ts';

export interface Kind extends KindName {
  make(draw: Draw): Made;
}

export interface KindName {
  /** The pattern that is right, and others that name the same thing where the evidence tells no more. */
  readonly slug: string;
  /** Tells kinds of one pattern apart. */
  readonly name?: string;
  readonly alike?: readonly string[];
  /** What else is right where nothing is left that says who made the load. */
  readonly alikeWithLess?: readonly string[];
}

export interface Made {
  readonly signals: readonly Signal[];
  /** Words of which the culprit must say one. Absent: nobody in particular is to blame, or only settings are. */
  readonly culprit?: readonly string[];
  /** When it began, where it has a beginning. */
  readonly onsetMs?: number;
}

/** A series that is one thing before an instant and another from there on, with noise. */
export function stepped(
  draw: Draw,
  parts: readonly (readonly [value: number, count: number])[],
  spread = 0.02,
): readonly number[] {
  return parts.flatMap(([value, count]) => Array.from({ length: count }, () => draw.near(value, spread)));
}

/** The same in whole numbers. */
export const steppedCounts = (
  draw: Draw,
  parts: readonly (readonly [value: number, count: number])[],
  spread = 0.02,
): readonly number[] => stepped(draw, parts, spread).map(Math.round);

/** A counter that grows by these amounts from reading to reading. */
export function counting(from: number, growth: readonly number[]): readonly number[] {
  let at = from;
  return growth.map((by) => (at += Math.max(0, Math.round(by))));
}
