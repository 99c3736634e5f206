// Settings that are each reasonable and together a trap, found by arithmetic before anything is started. Every finding shows its
// arithmetic, so that a person can check it, and has a name, by which it can be allowed on purpose.
//
//   inner-timeout           what happens inside one request may take longer than the request is given: the work goes on for
//                           a client that has left, and its workers are held meanwhile
//   retry-storm             when everything fails, retries on several levels multiply; the product is beyond what is spare
//   workers-exhausted       at this rate, calls that hang until their timeout hold more workers than there are
//   eviction-empties-fleet  checks can take everybody out, and then nobody is asked at all
//   eviction-overloads-rest who is left after eviction gets more than can be carried
//
// This file knows calls within a request; `unsafe-gateway.ts` knows a gateway's own settings.

import { type Duration, formatDuration, inSeconds, ns } from '../base.ts';

export interface CallSettings {
  /** What a person calls it: `store`. */
  readonly name: string;
  /** Undefined: waits for ever. */
  readonly timeout: Duration | undefined;
  readonly retries: number;
  /** The longest pause between two attempts. */
  readonly backOffMax: Duration;
}

export interface ChainSettings {
  /** The whole time that a request is given from outside. */
  readonly outer: { readonly name: string; readonly timeout: Duration; readonly retries: number };
  readonly calls: readonly CallSettings[];
  /** Of the service that makes the calls, per replica. Undefined where it is not known. */
  readonly workers?: number;
  /** Requests a second to one replica. */
  readonly ratePerSecond?: number;
  /** How many times the usual load the services behind can carry; 1.5 when nothing is known. */
  readonly spare?: number;
}

export const unsafeNames = [
  'inner-timeout',
  'retry-storm',
  'workers-exhausted',
  'eviction-empties-fleet',
  'eviction-overloads-rest',
] as const;

export type UnsafeName = (typeof unsafeNames)[number];

export interface UnsafeFinding {
  readonly name: UnsafeName;
  readonly where: string;
  /** The arithmetic, in one sentence. */
  readonly because: string;
  readonly instead: string;
}

/** Every trap in the settings, but those that are allowed by name. */
export function unsafeSettings(chain: ChainSettings, allowed: readonly UnsafeName[] = []): readonly UnsafeFinding[] {
  const findings = [...chain.calls.flatMap((call) => outlives(chain, call)), ...storm(chain), ...exhausted(chain)];
  return findings.filter((finding) => !allowed.includes(finding.name));
}

/** Attempts and pauses of one call, at worst. Undefined: without end. */
export function worstCase(call: CallSettings): Duration | undefined {
  if (call.timeout === undefined) return undefined;
  return ns(call.timeout * (call.retries + 1) + call.backOffMax * call.retries);
}

/** How many attempts reach the innermost service for one request from outside, when everything fails. */
export function amplification(retries: readonly number[]): number {
  return retries.reduce((product, one) => product * (one + 1), 1);
}

function outlives({ outer }: ChainSettings, call: CallSettings): readonly UnsafeFinding[] {
  const worst = worstCase(call);
  if (worst !== undefined && worst < outer.timeout) return [];
  const sum =
    call.timeout === undefined
      ? 'it has no timeout'
      : `${call.retries + 1} × ${formatDuration(call.timeout)} + ${call.retries} × ${formatDuration(call.backOffMax)} = ` +
        formatDuration(worst ?? call.timeout);
  return [
    {
      name: 'inner-timeout',
      where: call.name,
      because: `${sum}, and ${outer.name} gives up after ${formatDuration(outer.timeout)}`,
      instead: `let ${call.name} end before ${formatDuration(outer.timeout)}: a shorter timeout, fewer retries, or pass the deadline on`,
    },
  ];
}

function storm({ outer, calls, spare = 1.5 }: ChainSettings): readonly UnsafeFinding[] {
  const worstCall = calls.reduce((most, call) => Math.max(most, call.retries), 0);
  const levels = [outer.retries, worstCall].filter((retries) => retries > 0);
  const product = amplification(levels);
  // One level of retries alone is what budgets are for.
  if (levels.length < 2 || product <= spare) return [];
  return [
    {
      name: 'retry-storm',
      where: outer.name,
      because: `${levels.map((retries) => `(${retries} + 1)`).join(' × ')} = ${product} attempts for one request when everything fails, and ${spare} times the load is what can be carried`,
      instead: 'retry on one level only, or give each level a retry budget',
    },
  ];
}

function exhausted({ calls, workers, ratePerSecond, outer }: ChainSettings): readonly UnsafeFinding[] {
  if (workers === undefined || ratePerSecond === undefined) return [];
  return calls.flatMap((call): readonly UnsafeFinding[] => {
    const held = worstCase(call);
    const longest = held === undefined ? Infinity : inSeconds(held);
    const needed = ratePerSecond * longest;
    if (needed <= workers) return [];
    const time = held === undefined ? 'for ever' : `for up to ${formatDuration(held)}`;
    const busy = held === undefined ? 'all' : `${ratePerSecond}/s × ${formatDuration(held)} = ${Math.ceil(needed)}`;
    return [
      {
        name: 'workers-exhausted',
        where: call.name,
        because: `when it hangs, each request holds a worker ${time}: ${busy} of ${workers} workers`,
        instead: `a timeout of ${call.name} below ${formatDuration(fitting(workers, ratePerSecond, call, outer.timeout))}, or refuse what cannot be served`,
      },
    ];
  });
}

/** The longest timeout of the call with which the workers suffice. */
function fitting(workers: number, ratePerSecond: number, call: CallSettings, atMost: Duration): Duration {
  const whole = (workers / ratePerSecond) * 1e9;
  const each = Math.max(0, (whole - call.backOffMax * call.retries) / (call.retries + 1));
  return ns(Math.min(each, atMost));
}
