// Laws that hold for any system whatever its state. If the data break one, the data are wrong, or not what they seem.
//
//   Little       in flight = answers a second × time in the system
//   utilisation  busy workers = work done a second × worker time

import type { Evidence } from './evidence.ts';
import { sum } from './quantity.ts';
import { digits, percent, say } from './wording.ts';

/** Plain data: survives JSON. */
export interface DataCheck {
  readonly law: 'little' | 'utilisation';
  readonly of: string;
  readonly left: number;
  readonly right: number;
  readonly holds: boolean;
  readonly text: string;
}

/** A queue that still grows breaks Little's law over a few seconds, and so does the edge of the window. */
const tolerance = 0.1;

export function dataChecks(evidence: Evidence): DataCheck[] {
  const { baseline } = evidence;
  const checks: DataCheck[] = [];
  const ended = sum(baseline.ticks.map((tick) => sum(tick.clients.map((client) => client.latency?.count ?? 0))));
  if (baseline.inFlight !== undefined && baseline.latency !== undefined && ended > 0) {
    const rate = ended / baseline.seconds;
    const right = rate * baseline.latency.value;
    checks.push({
      ...judged('little', 'all clients', baseline.inFlight.value, right),
      text: `in flight ${digits(baseline.inFlight.value)}; ${say(rate, 'requests/s')} × ${say(baseline.latency.value, 's')} = ${digits(right)}`,
    });
  }
  for (const replica of baseline.replicas) {
    const { busyWorkers, service, served } = replica;
    if (busyWorkers === undefined || service === undefined || served === undefined) continue;
    const right = served * service.mean;
    checks.push({
      ...judged('utilisation', replica.id, busyWorkers.value, right),
      text: `busy workers ${busyWorkers.value.toFixed(2)}; ${say(served, 'requests/s')} × ${say(service.mean, 's')} = ${right.toFixed(2)}`,
    });
  }
  return checks;
}

function judged(law: DataCheck['law'], of: string, left: number, right: number): Omit<DataCheck, 'text'> {
  const off = Math.abs(left - right) / Math.max(1, left, right);
  return { law, of, left, right, holds: off <= tolerance };
}

/** `Little's law is off by 23 % at all clients: …`, for those that do not hold. */
export function complaints(checks: readonly DataCheck[]): string[] {
  return checks
    .filter((check) => !check.holds)
    .map((check) => {
      const off = percent(Math.abs(check.left - check.right) / Math.max(1, check.left, check.right));
      return `${check.law === 'little' ? 'Little’s law' : 'The utilisation law'} is off by ${off} at ${check.of}: ${check.text}`;
    });
}
