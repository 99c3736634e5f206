// Nothing is wrong, as far as the evidence reaches.

import { nth } from '../../../stats.ts';
import { digits, percent } from '../../wording.ts';
import { slownessLuck } from '../slow-luck.ts';
import { isEven, rangeOf, timesOf, unevenest } from '../spread.ts';
import { claim, type DossierTheory, type Seen } from '../theory.ts';
import type { View } from '../view.ts';

export const healthy: DossierTheory = {
  slug: 'healthy',
  title: 'Healthy: requests are answered, evenly and in steady time',
  mechanism:
    'Most evidence that people keep is of systems that work. To say so is a finding, and it needs proof like any other.',
  refutedBy: 'Failures, a replica that stands out, or times that grow.',
  provedBy: 'Requests that succeed, in times without a cliff, spread as they should be.',
  lookAlikes: ['every fault at a load that does not show it'],
  fix: 'Nothing to fix.',
  decidedBy: 'a log or counters of requests with their results and times',
  explains: [],
  kind: 'harmless',

  examine(view) {
    const answered = answeredIn(view);
    if (answered === undefined) return undefined;
    const uneven = unevenest(view.fleets, 'requests', view.fairShares);
    const times = unevenTimes(view);
    const tail = tailIn(view);
    const enough = `${requestsEnough} requests or more with their results: there are ${digits(answered.total)}`;
    return {
      ...(answered.total < requestsEnough ? { decidedBy: enough } : {}),
      claims: [
        claim('Requests succeed.', {
          bearing: 'necessary',
          predicted: `at most 0.1 % fail, of at least ${requestsEnough}`,
          refutes: 'failures',
          seen:
            answered.failed === 0 && answered.total < requestsEnough
              ? undefined
              : {
                  text: `${digits(answered.failed)} of ${digits(answered.total)} failed`,
                  holds: answered.failed <= 0.001 * answered.total,
                  origins: answered.origins,
                },
          missing: enough,
        }),
        claim('Nothing else in the evidence complains.', {
          bearing: 'necessary',
          predicted: 'no messages of failure, no replica out, no failed or dropped requests of a generator',
          refutes: 'a complaint',
          seen: complaintsIn(view),
        }),
        claim('They are spread evenly over the replicas.', {
          bearing: 'necessary',
          predicted:
            'at most 1.3 times its share for the busiest, or what chance does; a share of what came while it was there',
          refutes: 'a replica that has far more',
          seen:
            uneven === undefined
              ? undefined
              : {
                  text: `${uneven.hot.id}: ${digits(uneven.times)} times its share`,
                  holds: isEven(uneven),
                },
          missing: 'requests by replica',
        }),
        claim('No replica takes longer than the others.', {
          bearing: 'necessary',
          predicted: 'mean times within a factor of 1.5, or what chance does',
          refutes: 'a slow replica',
          seen:
            times === undefined
              ? undefined
              : { text: `${digits(times.least * 1000)} to ${digits(times.most * 1000)} ms`, holds: times.alike },
          missing: 'times by replica',
        }),
        claim('Times have no cliff and do not grow.', {
          bearing: 'sufficient',
          predicted: 'the slowest hundredth at most 10 times the middle, the second half as fast as the first',
          refutes: 'a tail or a trend',
          seen:
            tail === undefined
              ? undefined
              : {
                  text: `99 of 100 within ${digits(tail.ratio)} times the middle; second half ${digits(tail.trend)} times the first`,
                  holds: tail.ratio <= 10 && tail.trend <= 1.5 && answered.total >= requestsEnough,
                },
          missing: 'single request times',
        }),
        claim('Over many requests neither share nor time nor result stands out.', {
          bearing: 'sufficient',
          predicted: `all three as they should be, over at least ${digits(requestsMany)} requests`,
          refutes: 'one of the three',
          seen:
            uneven === undefined || times === undefined || answered.total < requestsMany
              ? undefined
              : {
                  text: `${digits(answered.total)} requests over ${uneven.members.length} replicas`,
                  holds: answered.failed <= 0.001 * answered.total && isEven(uneven) && times.alike,
                },
          missing:
            answered.total < requestsMany
              ? `${digits(requestsMany)} requests or more by replica: there are ${digits(answered.total)}`
              : 'requests, results and times by replica',
        }),
      ],
      culprit: undefined,
      sentence: `Nothing is wrong in what was given: ${digits(answered.total)} requests, ${answered.failed === 0 ? 'none failed' : `${percent(answered.failed / answered.total)} failed`}, spread evenly and answered in steady time.`,
      arithmetic: [],
    };
  },
};

/** The fleet whose mean times differ most, and whether they are alike all the same. */
function unevenTimes(view: View) {
  const [found] = view.fleets
    .flatMap((fleet) => {
      const range = rangeOf(timesOf(fleet.members, 20));
      return range === undefined ? [] : [{ fleet, ...range }];
    })
    .toSorted((one, other) => other.times - one.times);
  if (found === undefined) return undefined;
  const slow = found.fleet.members.find(({ meanSeconds }) => meanSeconds === found.most);
  const luck =
    slow === undefined
      ? undefined
      : slownessLuck(
          view,
          found.fleet.members.map(({ id }) => id),
          slow.id,
        );
  return { ...found, alike: found.times <= 1.5 || (luck ?? 0) > 0.01 };
}

/** Levels of a log that complain of nothing, and those of a complaint without a name. */
const quiet = /^log-(?:info|debug|trace|notice|none|log|warn|warning)$/;
const unknown = /^log-/;
const requestsEnough = 100;
/** So many that shares and times say it without single times. */
const requestsMany = 1000;
/** Messages that only say what a program does, or somebody with it on purpose. */
const calm =
  /^(?:check-succeeded|server-up|server-maintenance|server-draining|proxy-state|reload|server-address-changed|note|garbage-collection|info|debug|nginx-(?:info|notice|debug))$/;

function complaintsIn(view: View): Seen {
  // What a program says that nobody here knows is no complaint where a log of requests tells that none failed.
  const counted = view.tables.some(({ count }) => count >= requestsEnough);
  const messages = view.dossier.messages.filter(
    ({ code }) => !calm.test(code) && !quiet.test(code) && !(counted && unknown.test(code)),
  );
  const out = view.events(({ event }) =>
    /^(?:unhealthy|ejected|restart|dependency-down|disk-full|no-server-available|trigger-start)$/.test(event),
  );
  const failed = view.results.filter(
    ({ errors = 0, dropped = 0, requests = 0, latency = {} }) =>
      errors + dropped > 0.001 * requests || (latency['0.99'] ?? 0) > 10 * (latency['0.5'] ?? Number.POSITIVE_INFINITY),
  );
  const all = messages.length + out.length + failed.length;
  const first = messages[0]?.code ?? out[0]?.event ?? failed[0]?.run;
  return {
    text: first === undefined ? 'none' : `${all}, such as ${first}`,
    holds: all === 0,
    origins: [...messages, ...out, ...failed].map(({ origin }) => origin).slice(0, 3),
  };
}

function answeredIn(view: View) {
  let total = 0;
  let failed = 0;
  const origins = view.tables.map(({ origin }) => origin).slice(0, 3);
  for (const table of view.tables) {
    for (const status of table.status) {
      if (status < 0) continue;
      total += 1;
      if (status >= 500 || status === 0) failed += 1;
    }
  }
  if (total === 0) {
    for (const fleet of view.fleets.slice(0, 1)) {
      for (const { requests, errors } of fleet.members) {
        if (requests === undefined || errors === undefined) return undefined;
        total += requests;
        failed += errors;
      }
    }
  }
  return total === 0 ? undefined : { total, failed, origins };
}

function tailIn(view: View): { ratio: number; trend: number } | undefined {
  const [table] = view.tables.toSorted((one, other) => other.count - one.count);
  if (table === undefined) return undefined;
  const seconds = table.seconds.filter((value) => !Number.isNaN(value));
  if (seconds.length < 100) return undefined;
  const half = Math.floor(seconds.length / 2);
  const first = middleOf(seconds.slice(0, half));
  const second = middleOf(seconds.slice(half));
  const middle = nth(seconds, half);
  // A millisecond either way is below what logs tell.
  return {
    ratio: nth(seconds, Math.floor(seconds.length * 0.99)) / Math.max(middle, 0.001),
    trend: Math.max(second, 0.001) / Math.max(first, 0.001),
  };
}

function middleOf(values: Float64Array): number {
  return nth(values, Math.floor(values.length / 2));
}
