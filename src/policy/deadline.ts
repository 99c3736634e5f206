// Until when? A request has one deadline, and everything that is done for it (waiting, connecting, attempts, the work of the
// services behind) is paid from what is left. The deadline travels as time left, because clocks of two machines disagree by
// more than a budget is worth; each hop takes off what it used itself and a margin for the way back.
//
//   left for the next hop = min(what the caller gave, our own timeout) − used here − margin
//
// Without this, an inner call with a longer patience than the outer one goes on working for somebody who has left, and its
// retries do so several times over: that is how a datastore that stalls for a minute takes a whole fleet with it.
//
// Three ways to say it on HTTP, since there is no standard: `grpc-timeout`, `x-envoy-expected-rq-timeout-ms`, and
// `x-plimsoll-remaining-ms`. Whatever the caller says can only shorten our own timeout.

import { after, assert, between, type Duration, type Instant, ms, ns } from '../base.ts';

export const remainingHeader = 'x-plimsoll-remaining-ms';
export const envoyRemainingHeader = 'x-envoy-expected-rq-timeout-ms';
export const grpcTimeoutHeader = 'grpc-timeout';

/** The deadline of a request that came in at `now`, from our own timeout and what its caller still gives it. */
export function deadlineOf(now: Instant, own: Duration, given: Duration | undefined): Instant {
  return after(now, given === undefined || given > own ? own : given);
}

/** What is left at `now`; never negative. */
export function leftUntil(deadline: Instant, now: Instant): Duration {
  return ns(Math.max(0, between(now, deadline)));
}

/** What to tell the next hop; never negative. `margin` is for the way back. */
export function forwarded(deadline: Instant, now: Instant, margin: Duration): Duration {
  return ns(Math.max(0, between(now, deadline) - margin));
}

/** Work that cannot be finished in time should not be begun. `expected` is what it usually takes. */
export function canFinish(deadline: Instant, now: Instant, expected: Duration): boolean {
  return between(now, deadline) >= expected;
}

/** Whole milliseconds in decimal, as both `-ms` headers have it. Undefined for anything else: then nothing was said. */
export function parseRemainingMs(text: string): Duration | undefined {
  return /^\d{1,12}$/.test(text) ? ms(Number(text)) : undefined;
}

/** Rounded down: a hop must not be told that it has more than it has. */
export function formatRemainingMs(left: Duration): string {
  return String(Math.floor(left / 1e6));
}

const grpcUnits: readonly (readonly [string, number])[] = [
  ['n', 1],
  ['u', 1e3],
  ['m', 1e6],
  ['S', 1e9],
  ['M', 60e9],
  ['H', 3600e9],
];

/** `100m` is 100 milliseconds: at most eight digits and a unit of H, M, S, m, u, n. */
export function parseGrpcTimeout(text: string): Duration | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(text);
  if (match === null) return undefined;
  const unit = grpcUnits.find(([name]) => name === match[2]);
  return unit === undefined ? undefined : ns(Number(match[1]) * unit[1]);
}

/** The finest unit that fits eight digits, rounded down. */
export function formatGrpcTimeout(left: Duration): string {
  assert(left >= 0, 'time left is not negative');
  for (const [name, size] of grpcUnits) {
    const count = Math.floor(left / size);
    if (count < 1e8) return `${count}${name}`;
  }
  return '99999999H';
}
