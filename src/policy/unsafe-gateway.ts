// The traps in the settings of one gateway, by arithmetic: what it gives a request against what it may do within it, what its
// retries and those around it multiply to, and what its evictions leave over. The chain before and behind it is looked at as
// far as it is told of.
//
//   client ──(timeout, retries)──► gateway ──(timeout, retries)──► service ──(timeout, retries)──► calls
//            └── outer ≥ …                    └── … ≥ …                        └── … ≥ inner
//
// A timeout that is not shorter than the one around it never rings, or rings for somebody who has left.

import { type Duration, formatDuration, ns } from '../base.ts';
import {
  amplification,
  type CallSettings,
  type UnsafeFinding,
  type UnsafeName,
  unsafeSettings,
} from './unsafe-settings.ts';

export interface GatewaySafety {
  /** For one request, retries included. */
  readonly timeout: Duration;
  readonly connectTimeout: Duration;
  readonly retries: number;
  /** Retries ÷ requests that the budget of all allows; undefined: there is no budget. */
  readonly retryRatio: number | undefined;
  /** The longest that a request may wait in the queue; undefined: there is none. */
  readonly queueInterval: Duration | undefined;
  /** Active checks can take out everybody. */
  readonly checks: { readonly fall: number; readonly interval: Duration; readonly timeout: Duration } | undefined;
  readonly panicBelow: number;
  /** The most of the fleet that may be out for what it answered; undefined: nobody is. */
  readonly ejectedShareMax: number | undefined;
  /** Endpoints in the list. */
  readonly endpoints: number;
  /** Who asks the gateway, as far as it is known. */
  readonly before: { readonly timeout: Duration; readonly retries: number } | undefined;
  /** What one request to the service behind does in turn. */
  readonly calls: readonly CallSettings[];
  readonly workers: number | undefined;
  /** Requests a second to one endpoint. */
  readonly ratePerSecond: number | undefined;
  /** How many times the usual load an endpoint can carry; undefined: not known. */
  readonly spare: number | undefined;
}

/** Every trap, but those that are allowed by name. `where` is a key of the gateway's configuration. */
export function unsafeGateway(gateway: GatewaySafety, allowed: readonly UnsafeName[] = []): readonly UnsafeFinding[] {
  const findings = [
    ...connecting(gateway),
    ...queueing(gateway),
    ...outlivesClient(gateway),
    ...withinService(gateway),
    ...storm(gateway),
    ...emptied(gateway),
    ...overloaded(gateway),
  ];
  return findings.filter((finding) => !allowed.includes(finding.name));
}

/** Attempts at endpoints that do not answer use up the time before the last of them is made. */
function connecting({ connectTimeout, retries, timeout }: GatewaySafety): readonly UnsafeFinding[] {
  const whole = ns(connectTimeout * (retries + 1));
  if (whole < timeout) return [];
  return [
    {
      name: 'inner-timeout',
      where: 'connect_timeout_ns',
      because: `${retries + 1} × ${formatDuration(connectTimeout)} = ${formatDuration(whole)} to find out that nobody can be reached, and a request is given ${formatDuration(timeout)}`,
      instead: `a connect timeout below ${formatDuration(ns(timeout / (retries + 1)))}`,
    },
  ];
}

function queueing({ queueInterval, timeout }: GatewaySafety): readonly UnsafeFinding[] {
  if (queueInterval === undefined || queueInterval < timeout) return [];
  return [
    {
      name: 'inner-timeout',
      where: 'queue.interval_ns',
      because: `a request may wait for ${formatDuration(queueInterval)} in the queue, and is given ${formatDuration(timeout)} in all`,
      instead: `an interval far below ${formatDuration(timeout)}: 100 ms when nothing is known`,
    },
  ];
}

/** We go on for a client that has given up. (`deadline: honour` shortens this for clients that say what they have left.) */
function outlivesClient({ before, timeout }: GatewaySafety): readonly UnsafeFinding[] {
  if (before === undefined || timeout < before.timeout) return [];
  return [
    {
      name: 'inner-timeout',
      where: 'timeout_ns',
      because: `a request is given ${formatDuration(timeout)} here, and who asks gives up after ${formatDuration(before.timeout)}`,
      instead: `a timeout below ${formatDuration(before.timeout)}`,
    },
  ];
}

function withinService(gateway: GatewaySafety): readonly UnsafeFinding[] {
  const { calls, timeout, workers, ratePerSecond } = gateway;
  return calls.flatMap((call, index) => {
    const chain = {
      outer: { name: 'the gateway', timeout, retries: 0 },
      calls: [call],
      ...(workers === undefined ? {} : { workers }),
      ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
    };
    return unsafeSettings(chain).map((finding) => ({ ...finding, where: `chain.calls.${index}` }));
  });
}

/** A level of retries, as a factor on the load when everything fails. */
interface Level {
  readonly factor: number;
  readonly text: string;
}

function storm(gateway: GatewaySafety): readonly UnsafeFinding[] {
  const levels = [
    levelOf('client', gateway.before?.retries ?? 0),
    ownLevel(gateway),
    levelOf('service', Math.max(0, ...gateway.calls.map((call) => call.retries))),
  ].filter((level) => level.factor > 1);
  const product = levels.reduce((whole, level) => whole * level.factor, 1);
  const spare = gateway.spare ?? 1.5;
  // With nothing told of others, retries of the gateway alone are bounded by its budget, or meant.
  if (product <= spare || (levels.length < 2 && gateway.spare === undefined)) return [];
  return [
    {
      name: 'retry-storm',
      where: 'retries',
      because: `${levels.map((level) => level.text).join(' × ')} = ${rounded(product)} times the load when everything fails, and ${rounded(spare)} times can be carried`,
      instead: 'retry on one level only, with a budget there',
    },
  ];
}

function levelOf(name: string, retries: number): Level {
  return { factor: amplification([retries]), text: `${name} (1 + ${retries})` };
}

function ownLevel({ retries, retryRatio }: GatewaySafety): Level {
  if (retryRatio === undefined || retryRatio >= retries) return levelOf('gateway', retries);
  return { factor: 1 + retryRatio, text: `gateway (1 + ${rounded(retryRatio)} of budget)` };
}

function emptied({ checks, panicBelow, endpoints }: GatewaySafety): readonly UnsafeFinding[] {
  if (checks === undefined || panicBelow > 0) return [];
  const notAnswering = ns(checks.interval * (checks.fall - 1) + checks.timeout);
  const fleet = endpoints === 1 ? 'the only endpoint' : `all ${endpoints} endpoints`;
  return [
    {
      name: 'eviction-empties-fleet',
      where: 'panic_below',
      because: `${checks.fall} checks missed within ${formatDuration(notAnswering)} take out ${endpoints === 0 ? 'every endpoint' : fleet} when all are slow together, and 0 of them are asked then`,
      instead: 'panic_below: 0.01 (when nobody is healthy, all are asked), or 0.5 as Envoy has it',
    },
  ];
}

/** Who is left carries what the others carried: n ÷ (n − out). */
function overloaded({ ejectedShareMax, endpoints, spare }: GatewaySafety): readonly UnsafeFinding[] {
  if (ejectedShareMax === undefined || spare === undefined || endpoints < 2) return [];
  const out = Math.min(endpoints - 1, Math.max(1, Math.floor(ejectedShareMax * endpoints)));
  const factor = endpoints / (endpoints - out);
  if (factor <= spare) return [];
  return [
    {
      name: 'eviction-overloads-rest',
      where: 'outlier.ejected_share_max',
      because: `${out} of ${endpoints} out leaves ${endpoints} ÷ ${endpoints - out} = ${rounded(factor)} times the load for the rest, and ${rounded(spare)} times can be carried`,
      instead:
        out === 1 || spare <= 1
          ? 'more endpoints, so that one of them may be missed'
          : `a share of at most ${rounded(1 - 1 / spare)}`,
    },
  ];
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}
