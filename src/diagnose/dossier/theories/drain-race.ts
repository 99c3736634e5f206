// A replica stops before the balancer has noticed that it should not be asked any more.

import type { EventFact, Origin } from '../../../record.ts';
import { digits, percent } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const drainRace: DossierTheory = {
  slug: 'drain-race',
  title: 'Drain race: a terminating replica stops before the balancer stops sending to it',
  mechanism:
    'A replica that is told to end waits (preStop), then closes. The balancer finds out by failed checks, interval × failures ' +
    'later, or is told and takes a moment. If the wait is not longer than that, requests reach a replica that is gone, for as ' +
    'long as the difference, in every rollout.',
  refutedBy: 'Errors on replicas that were not ending, or before they began to.',
  provedBy: 'All errors on the ending replica, between the end of its wait and its removal from the balancer.',
  lookAlikes: ['a bad release', 'cold-start', 'keepalive-race', 'too little capacity while rolling'],
  fix:
    'Wait longer than the balancer needs to notice, plus the longest request; a grace period longer than wait and drain ' +
    'together; or deregister first and wait until that is done.',
  decidedBy:
    'when the replica was told to end, when it left the balancer, and which replica the failed requests were sent to',
  explains: ['keepalive-race', 'passive-eviction-last-peer', 'slow-replica', 'fast-fail-blackhole'],

  examine(view) {
    const sleep = view.setting('rollout.pre-stop-sleep');
    const waits = typeof sleep?.value === 'number' ? sleep.value : undefined;
    const interval = view.number(
      'health.interval',
      ({ scope, program }) => program !== 'kubernetes' || !/readiness|liveness/.test(scope),
    );
    const fall = view.number(
      'health.fall',
      ({ scope, program }) => program !== 'kubernetes' || !/readiness|liveness/.test(scope),
    );
    const detection = interval === undefined || fall === undefined ? undefined : interval * fall;
    const found = endingIn(view, waits ?? 0);
    if (found === undefined && (waits === undefined || detection === undefined)) return undefined;
    const margin = waits === undefined || detection === undefined ? undefined : waits - detection;
    const grace = view.number('rollout.termination-grace');
    const health = view.setting('health.interval');
    return {
      claims: [
        claim('The errors are those of replicas that were ending.', {
          bearing: 'necessary',
          predicted: 'at least 80 % of the errors that name a replica',
          refutes: 'errors on replicas that stay',
          seen:
            found === undefined
              ? undefined
              : {
                  text: `${found.onEnding} of ${found.errors}`,
                  holds: found.onEnding >= 0.8 * found.errors,
                  origins: [found.origin],
                },
          missing: 'which replica the failed requests were sent to, and which were ending',
        }),
        claim('They come after it was told to end, when its wait is over.', {
          bearing: 'necessary',
          predicted: `from ${digits(waits ?? 0)} s after that`,
          refutes: 'errors before it was told to end',
          seen:
            found === undefined || found.onEnding === 0
              ? undefined
              : { text: `${digits(found.from)} to ${digits(found.to)} s after`, holds: found.from >= (waits ?? 0) - 1 },
          missing: 'when the replica was told to end',
        }),
        claim('Every error is a request to an ending replica in that stretch.', {
          bearing: 'sufficient',
          predicted: 'all of them, no longer than the balancer needs to notice',
          refutes: 'errors elsewhere or at other times',
          seen:
            found === undefined || found.onEnding < 1
              ? undefined
              : {
                  text: `${found.onEnding} of ${found.errors} within ${digits(found.to - found.from)} s`,
                  holds:
                    found.onEnding >= 0.8 * found.errors &&
                    found.to - found.from <= Math.max(60, detection ?? 0) &&
                    found.from >= (waits ?? 0) - 1,
                },
          missing: 'failed requests with their replica and instant',
        }),
        claim('The wait is no longer than the balancer needs to notice.', {
          bearing: found === undefined ? 'sufficient' : 'supporting',
          predicted:
            detection === undefined
              ? 'interval × failures'
              : `at most ${digits(interval ?? 0)} s × ${digits(fall ?? 0)} = ${digits(detection)} s`,
          refutes: 'a longer wait',
          seen:
            margin === undefined
              ? undefined
              : {
                  text: `${digits(waits ?? 0)} s${sleep?.implied === true ? ' (default)' : ''}`,
                  holds: margin <= 0,
                  origins: [sleep, health].flatMap((one) => one?.origin ?? []),
                },
          missing: 'how long the replica waits before it stops, and how often the balancer checks',
        }),
        claim('New replicas serve well from the first second.', {
          bearing: 'supporting',
          predicted: 'no errors on them',
          refutes: 'errors on new replicas',
          seen:
            found === undefined
              ? undefined
              : { text: `${found.errors - found.onEnding} errors elsewhere`, holds: found.errors === found.onEnding },
          missing: 'requests to the new replicas',
        }),
        claim('The grace period leaves time after the wait.', {
          bearing: 'supporting',
          predicted: 'longer than the wait',
          refutes: 'a shorter grace period',
          seen:
            grace === undefined || waits === undefined
              ? undefined
              : { text: `${digits(grace)} s`, holds: grace > waits },
          missing: 'the termination grace period',
        }),
      ],
      culprit:
        `${sleep?.scope ?? found?.subject ?? 'the replicas'}: preStop sleep ${waits === undefined ? 'none' : `${digits(waits)}s`} versus ${health === undefined ? 'the balancer' : health.scope} detection ${detection === undefined ? '' : `${digits(interval ?? 0)}s x ${digits(fall ?? 0)}`}`.trim(),
      sentence:
        found === undefined
          ? `The replica stops ${digits(waits ?? 0)} s after it is told to, and the balancer may need ${digits(detection ?? 0)} s to notice: requests in between meet a closed port, in every rollout.`
          : `${found.subject} stopped before the balancer stopped sending to it: ${found.onEnding} requests met a closed port, ${digits(found.from)} to ${digits(found.to)} s after it was told to end.`,
      arithmetic: [
        ...(margin === undefined
          ? []
          : [
              `wait ${digits(waits ?? 0)} s − detection ${digits(interval ?? 0)} s × ${digits(fall ?? 0)} = ${digits(margin)} s of margin`,
            ]),
        ...(found === undefined
          ? []
          : [
              `${found.onEnding} of ${found.errors} errors on ${found.subject} (${percent(found.onEnding / Math.max(1, found.errors))})`,
            ]),
      ],
      basis: found === undefined ? 'configured' : 'seen',
    };
  },
};

interface Ending {
  readonly origin: Origin;
  readonly subject: string;
  readonly errors: number;
  readonly onEnding: number;
  /** Seconds after it was told to end: the first and the last error. */
  readonly from: number;
  readonly to: number;
}

interface Failure {
  readonly replica: string;
  readonly atMs: number;
}

/** Failed requests by whether their replica was ending: from access logs, or from what a proxy says of its upstreams. */
function endingIn(view: View, waits: number): Ending | undefined {
  const ends = view.events(
    ({ event, atMs }) =>
      atMs !== undefined &&
      /^(?:pod-terminating|terminating|pod-killed|killed|stopping|shutdown|draining|server-draining)$/.test(event),
  );
  if (ends.length === 0) return undefined;
  const logs = view.tables.map((table) => {
    const failures: Failure[] = [];
    for (let row = 0; row < table.count; row++) {
      const replica = table.replicas[table.replica[row] ?? -1];
      if ((table.status[row] ?? 0) < 500 || replica === undefined) continue;
      failures.push({ replica, atMs: table.startMs[row] ?? Number.NaN });
    }
    return endingOf(failures, ends, waits, table.origin);
  });
  const said = view.dossier.messages.filter(({ code }) =>
    /^upstream-(?:refused|reset|closed-early|unreachable|connect-timeout)$/.test(code),
  );
  const told = said.flatMap(({ subject, atMs }): Failure[] =>
    subject === undefined || atMs === undefined ? [] : [{ replica: subject, atMs }],
  );
  const [origin] = said.map((message) => message.origin);
  return [...logs, origin === undefined ? undefined : endingOf(told, ends, waits, origin)]
    .flatMap((found) => found ?? [])
    .toSorted((one, other) => other.onEnding - one.onEnding)[0];
}

function endingOf(
  failures: readonly Failure[],
  ends: readonly EventFact[],
  waits: number,
  origin: Origin,
): Ending | undefined {
  const after: number[] = [];
  const subjects = new Map<string, number>();
  for (const { replica, atMs } of failures) {
    // The last thing it did before it failed: a pod may end more than once under one name.
    const end = ends.findLast(
      (one) =>
        names(replica, one.subject, one.detail) &&
        atMs >= (one.atMs ?? 0) - 1000 &&
        atMs <= (one.atMs ?? 0) + 1000 * (waits + 600),
    );
    if (end === undefined) continue;
    after.push((atMs - (end.atMs ?? 0)) / 1000);
    const subject = end.subject ?? replica;
    subjects.set(subject, (subjects.get(subject) ?? 0) + 1);
  }
  const subject = [...subjects].toSorted(([, one], [, other]) => other - one)[0]?.[0];
  if (subject === undefined) return undefined;
  return {
    origin,
    subject,
    errors: failures.length,
    onEnding: after.length,
    from: Math.min(...after),
    to: Math.max(...after),
  };
}

/** Whether an address in a log is the replica that an event is about, by name or by the address in its detail. */
function names(replica: string, subject: string | undefined, detail: string | undefined): boolean {
  const address = replica.replace(/:\d+$/, '');
  return (
    subject === replica ||
    subject?.replace(/:\d+$/, '') === address ||
    (detail ?? '').split(/[\s,=]+/).some((word) => word.replace(/:\d+$/, '') === address)
  );
}
