// The load line, by arithmetic on one record: how much this fleet may safely carry with one replica less and its retries on.
//
//   C          capacity of n − 1 replicas: (n − 1) · workers ÷ time that a request holds one; where they are not alike and nobody
//              sends less to whom can do less, as much as brings the first of them to its limit
//   served     0.9 · C                                  above that the queue of a fleet without slack grows
//   recovers   C · (R + T/f) ÷ (A · (R + T))            a spell of T = 15 s in which all is f = 5 times slower is worked off in
//                                                       R = 30 s, when everything that timed out is tried A times in all
//
// The line stands at the lower of the two. A dependency holds its caller's worker for up to its timeout: that is in the time a
// request holds one. A call without a timeout may hold it for ever: then no load is safe, and that is what is said.
//
// It is what can be read off a record at once. `plimsoll load-line` looks for the same line by some hundred imagined runs, with
// queues, gateways and chance as they are.

import { quantileOf } from '../stats.ts';
import { serviceIn, usualService } from './course.ts';
import type { Evidence } from './evidence.ts';
import { workersOf } from './evidence.ts';
import { sum } from './quantity.ts';
import { percent } from './wording.ts';

/** Plain data: survives JSON. */
export type LoadLineFacts =
  | {
      readonly kind: 'line';
      /** Requests a second, whatever happens: the line. */
      readonly safe_per_s: number;
      /** As long as nothing happens. */
      readonly serves_per_s?: number;
      readonly now_per_s: number;
      /** What is asked now ÷ the line. */
      readonly share: number;
      /** What the line supposes to be wrong. */
      readonly against: string;
      readonly arithmetic: readonly string[];
    }
  | { readonly kind: 'none'; readonly because: string };

const slack = 0.9;
const spell = 15;
const factor = 5;
const recovery = 30;
/** A quota that bites this often makes the processor the limit. */
const stoppedMax = 0.02;

/** The line of a fleet, or why there is none. `copies`: of so many services like this one. */
export function loadLineOf(evidence: Evidence): LoadLineFacts {
  const { topology, baseline, ids } = evidence;
  const endless = endlessCall(evidence);
  if (endless !== undefined) {
    return { kind: 'none', because: `the call to ${endless} has no timeout: when it stands still, no load is safe` };
  }
  const workers = workersOf(evidence, ids[0]);
  const service = usualService(evidence);
  if (workers === undefined || service === undefined || service <= 0) {
    return {
      kind: 'none',
      because: 'the record does not tell how many workers a replica has and how long a request holds one',
    };
  }
  if (baseline.insideVisitors !== undefined) {
    return {
      kind: 'none',
      because: 'replicas came and went: the line would be that of a fleet which was there for a while only',
    };
  }
  if (ids.length < 2) return { kind: 'none', because: 'there is one replica only: without it nothing is served' };
  const stopped = Math.max(0, ...baseline.replicas.map(({ throttledShare = 0 }) => throttledShare));
  if (stopped > stoppedMax) {
    return {
      kind: 'none',
      because: `a quota stops a replica for ${percent(stopped)} of the time: its processor is the limit, not its workers`,
    };
  }
  const held = service + slowCalls(evidence);
  const alike = ((ids.length - 1) * workers) / held;
  const narrow = narrowest(evidence, workers / held);
  const capacity = narrow === undefined ? alike : Math.min(alike, narrow.carries);
  const tries =
    1 + Math.max(0, ...(topology?.clients ?? []).map(({ retries = 0, retry_budget: budget }) => budget ?? retries));
  const recovers = (capacity * (recovery + spell / factor)) / (tries * (recovery + spell));
  const served = slack * capacity;
  const safe = tries > 1 ? Math.min(served, recovers) : served;
  const now = baseline.offered?.value ?? baseline.throughput.value;
  const wrong = [
    `${ids.length - 1} of ${ids.length} replicas`,
    ...(held > service ? ['every dependency at its timeout'] : []),
    ...(tries > 1 ? ['retries on'] : []),
  ];
  return {
    kind: 'line',
    safe_per_s: safe,
    serves_per_s: served,
    now_per_s: now,
    share: now / safe,
    against: wrong.join(', '),
    arithmetic: [
      `${ids.length - 1} replicas × ${workers} workers ÷ ${(held * 1000).toFixed(1)} ms = ${alike.toFixed(0)}/s`,
      ...(narrow === undefined || narrow.carries >= alike ? [] : [narrow.said]),
      ...(tries > 1
        ? [
            `back within ${recovery} s after ${spell} s at a fifth of the speed, ${tries} tries each: ${capacity.toFixed(0)}/s × ${recovery + spell / factor} ÷ (${tries} × ${recovery + spell}) = ${recovers.toFixed(0)}/s`,
          ]
        : [`with a tenth to spare: ${served.toFixed(0)}/s`]),
    ],
  };
}

/** So much more than others is not chance. */
const oddFactor = 1.2;
/** Whoever gets less than this of all is not one that all are sent to. */
const shareMin = 0.01;

/** The replica that is at its limit first: it gets more than its part, or can do less than the others. Undefined where all are alike, or
 * where the balancer gives more to whoever can do more. */
function narrowest(evidence: Evidence, usual: number): { readonly carries: number; readonly said: string } | undefined {
  const { topology, baseline, ids } = evidence;
  if (/least|two-choices|ewma|prequal/.test(topology?.gateway?.policy ?? '')) return undefined;
  const [first] = baseline.replicas
    .filter(({ share }) => share > shareMin)
    .map(({ id, share }) => {
      // As it is for most of the time: whoever was slow for a while is not the narrowest for it.
      const own = quantileOf(
        baseline.ticks.flatMap((tick) => serviceIn(tick, id) ?? []),
        0.25,
      );
      const slowness = Math.max(1, (own ?? 0) / (usualService(evidence) ?? 1));
      const capacity = usual / (slowness > oddFactor ? slowness : 1);
      const part = share > oddFactor / ids.length ? share : 1 / ids.length;
      // With one replica less its part grows, unless it had everything before.
      const grown = Math.min(1, part * (ids.length / (ids.length - 1)));
      return { id, capacity, grown: part > 1 - shareMin ? 1 : grown };
    })
    .toSorted((one, other) => one.capacity / one.grown - other.capacity / other.grown);
  if (first === undefined) return undefined;
  const { id, capacity, grown } = first;
  const carries = capacity / grown;
  return {
    carries,
    said: `${id} gets ${percent(grown)} and can do ${capacity.toFixed(0)}/s: full at ${carries.toFixed(0)}/s`,
  };
}

/** The line of several services that share nothing: each stays where it is loaded, so the fullest one draws it for all. */
export function loadLineOfAll(lines: readonly LoadLineFacts[]): LoadLineFacts {
  const none = lines.find((line) => line.kind === 'none');
  if (none !== undefined) return none;
  const known = lines.flatMap((line) => (line.kind === 'line' ? [line] : []));
  const [fullest] = known.toSorted((one, other) => other.share - one.share);
  if (fullest === undefined) return { kind: 'none', because: 'no service was observed' };
  const now = sum(known.map((line) => line.now_per_s));
  return {
    ...fullest,
    now_per_s: now,
    safe_per_s: now / fullest.share,
    serves_per_s: ((fullest.serves_per_s ?? fullest.safe_per_s) / fullest.safe_per_s) * (now / fullest.share),
    against: `${fullest.against} in each of ${known.length} services`,
    arithmetic: [...fullest.arithmetic, `of the fullest service; all are asked ${now.toFixed(0)}/s in these parts`],
  };
}

/** A call of the judged service that may last for ever. */
function endlessCall({ topology, ids }: Evidence): string | undefined {
  const own = topology?.services.find(({ replicas }) => replicas.some(({ id }) => ids.includes(id)));
  return own?.calls?.find(({ timeout_ns: timeout }) => timeout === undefined)?.to;
}

/** Seconds for which the calls hold a worker when every one of them takes as long as it may, tries included. */
function slowCalls({ topology, ids }: Evidence): number {
  const own = topology?.services.find(({ replicas }) => replicas.some(({ id }) => ids.includes(id)));
  return sum((own?.calls ?? []).map(({ timeout_ns: timeout = 0, retries = 0 }) => (timeout / 1e9) * (1 + retries)));
}
