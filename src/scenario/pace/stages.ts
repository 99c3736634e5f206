// A rate that goes in straight lines from one value to the next, and stays at the last: warm up, climb, hold, come down.
//
//   rate │        ____                  stages: each says where the rate is after so long
//        │    __/      \                an instant change is a stage of length 0
//        │__/           \____
//        └──────────────────── t        area of a stage = (from + to)/2 · length
//
// The pieces are ramps laid end to end: the area of all earlier ones is added up once, so a look-up is a walk over a few
// stages and one ramp's formula.

import { assert, type Duration, inSeconds, ns } from '../../base.ts';
import type { RateCurve } from './curve.ts';
import { constantRate } from './constant.ts';
import { rampingRate } from './ramping.ts';

export interface RateStage {
  readonly over: Duration;
  readonly toPerSecond: number;
}

interface Piece {
  readonly from: Duration;
  readonly until: number;
  readonly areaBefore: number;
  readonly areaAfter: number;
  /** The piece's own curve, counted from its beginning; undefined where the rate is 0 throughout. */
  readonly curve: RateCurve | undefined;
}

/** Starts at `fromPerSecond` and passes through the stages in order; after the last the rate stays where it is. */
export function stagedRate(fromPerSecond: number, stages: readonly RateStage[]): RateCurve {
  const pieces = piecesOf(fromPerSecond, stages);
  return {
    area(elapsed) {
      const piece = pieces.find(({ until }) => elapsed <= until);
      assert(piece !== undefined, 'the last piece lasts for ever');
      return piece.areaBefore + (piece.curve?.area(ns(elapsed - piece.from)) ?? 0);
    },
    inverse(count) {
      const piece = pieces.find(({ areaAfter }) => count <= areaAfter);
      if (piece === undefined) return undefined;
      const within = piece.curve === undefined ? ns(0) : piece.curve.inverse(count - piece.areaBefore);
      return within === undefined ? undefined : ns(piece.from + within);
    },
  };
}

function piecesOf(fromPerSecond: number, stages: readonly RateStage[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let rate = fromPerSecond;
  let from = ns(0);
  let area = 0;
  for (const { over, toPerSecond } of stages) {
    assert(toPerSecond >= 0, 'a rate is not negative');
    if (over > 0) {
      const grown = ((rate + toPerSecond) / 2) * inSeconds(over);
      pieces.push({
        from,
        until: from + over,
        areaBefore: area,
        areaAfter: area + grown,
        curve: grown > 0 ? rampingRate({ fromPerSecond: rate, toPerSecond, over }) : undefined,
      });
      from = ns(from + over);
      area += grown;
    }
    rate = toPerSecond;
  }
  const curve = rate > 0 ? constantRate(rate) : undefined;
  pieces.push({ from, until: Infinity, areaBefore: area, areaAfter: rate > 0 ? Infinity : area, curve });
  return pieces;
}
