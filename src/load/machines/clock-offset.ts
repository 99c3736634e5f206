// How far another machine's clock is ahead of ours, asked over the network as NTP asks (RFC 5905, section 8). Both are monotonic
// clocks that began whenever their machine did, so that the offset may be days.
//
//   ours     sent ────────╲                      ╱──────── back         round trip = (back − sent) − (told − heard)
//   theirs                 ╲── heard ── told ───╱
//
//   offset = ((heard − sent) + (told − back)) / 2         wrong by half the round trip at most
//
// If the way there took as long as the way back the offset is exact; if one of them took no time at all, it is wrong by half the
// round trip, and nobody can tell. So the exchange with the shortest round trip counts, with half of it as the bound.

import { assert, type Duration, ns } from '../../base.ts';

/** Readings in nanoseconds: `sent` and `back` of our clock, `heard` and `told` of theirs. */
export interface Exchange {
  readonly sent: bigint;
  readonly heard: bigint;
  readonly told: bigint;
  readonly back: bigint;
}

export interface ClockOffset {
  /** Their reading less ours at the same moment, in nanoseconds. */
  readonly offset: bigint;
  /** The true offset lies no further away than this. */
  readonly bound: Duration;
}

export function clockOffset(exchanges: readonly Exchange[]): ClockOffset {
  const [first, ...others] = exchanges;
  assert(first !== undefined, 'an offset needs an exchange');
  let best = first;
  for (const exchange of others) if (roundTrip(exchange) < roundTrip(best)) best = exchange;
  return {
    offset: (best.heard - best.sent + (best.told - best.back)) / 2n,
    bound: ns(Math.ceil(Number(roundTrip(best)) / 2)),
  };
}

const roundTrip = ({ sent, heard, told, back }: Exchange): bigint => back - sent - (told - heard);
