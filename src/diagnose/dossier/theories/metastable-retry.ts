// The trigger is over, and the retries keep the fleet down.

import type { SeriesFact } from '../../../record.ts';
import { digits, percent, say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';
import { added, level, seriesLike, shiftOf, slope } from '../view-series.ts';
import { sayTime } from '../view-words.ts';

export const metastableRetry: DossierTheory = {
  slug: 'metastable-retry',
  title: 'Metastable retries: the trigger is gone, the overload stays',
  mechanism:
    'Something short makes requests slower than their timeout. Each is tried again, so the tries exceed what the servers can do; ' +
    'the queue grows, every try waits longer than its timeout, and all work is for callers that have given up. The trigger ends, ' +
    'and nothing changes: the tries alone are above capacity, though the demand never was.',
  refutedBy: 'Demand that rose and stayed, a trigger that still lasts, or tries below capacity.',
  provedBy:
    'Demand as before, service time as before, tries several times the demand, hardly any success, long after the trigger.',
  lookAlikes: ['overload-open-loop', 'retry-storm', 'a slow server', 'metastable-stale-backlog'],
  fix: 'To recover: cut retries or load below capacity ÷ tries for a while. Then a budget for retries, pauses with jitter, work that is dropped when its caller has gone, a bounded queue.',
  decidedBy: 'demand, tries, successes and service time over the trigger and a good while after it',
  explains: [
    'retry-storm',
    'overload-open-loop',
    'closed-loop-artifact',
    'timeout-inversion',
    'dependency-pool-exhaustion',
  ],

  examine(view) {
    const found = courseOf(view);
    if (found === undefined) return undefined;
    const { demand, tries, success, service, queue, beginMs, endMs, lastMs, firstMs } = found;
    const retries = view.number('route.retries');
    const workers = view.number('workers.count');
    const settleMs = endMs + 2 * found.stepMs;
    const before = {
      demand: level(demand, firstMs, beginMs),
      tries: level(tries, firstMs, beginMs),
      success: level(success, firstMs, beginMs),
      service: level(service, firstMs, beginMs),
    };
    const after = {
      demand: level(demand, settleMs, lastMs + 1),
      tries: level(tries, settleMs, lastMs + 1),
      success: level(success, settleMs, lastMs + 1),
      service: level(service, settleMs, lastMs + 1),
    };
    const serviceTime = after.service ?? view.number('workers.service-time');
    const capacity = workers === undefined || serviceTime === undefined ? undefined : workers / serviceTime;
    const demanded = after.demand ?? before.demand;
    const ratio =
      after.tries === undefined || after.demand === undefined || after.demand === 0
        ? undefined
        : after.tries / after.demand;
    const lasted = (lastMs - endMs) / 1000;
    const wanted = demanded === undefined || retries === undefined ? undefined : demanded * (retries + 1);
    const growth = slope(queue, settleMs, lastMs + 1);
    const predictedGrowth =
      capacity === undefined || (wanted ?? after.tries) === undefined
        ? undefined
        : ((wanted ?? after.tries ?? 0) - capacity) / capacity;
    const dead =
      before.success === undefined || after.success === undefined || before.success === 0
        ? undefined
        : after.success / before.success;
    return {
      claims: [
        claim('Demand did not rise.', {
          bearing: 'necessary',
          predicted: before.demand === undefined ? 'as before' : `${say(before.demand, 'requests/s')}, within 20 %`,
          refutes: 'more demand after than before',
          seen:
            before.demand === undefined || after.demand === undefined
              ? undefined
              : {
                  text: say(after.demand, 'requests/s'),
                  holds: after.demand <= 1.2 * before.demand,
                  origins: demand === undefined ? [] : [demand.origin],
                },
          missing: 'requests (not tries) before and after',
        }),
        claim('The trigger is over, and the failing goes on.', {
          bearing: 'necessary',
          predicted: `hardly any success for longer than the trigger lasted (${sayTime((endMs - beginMs) / 1000)})`,
          refutes: 'recovery soon after the trigger',
          seen:
            dead === undefined
              ? undefined
              : {
                  text: `${percent(dead)} of the successes, for ${sayTime(lasted)}`,
                  holds: dead < 0.5 && lasted > (endMs - beginMs) / 1000,
                  origins: success === undefined ? [] : [success.origin],
                },
          missing: 'successes over time',
        }),
        claim('Service time is back to what it was.', {
          bearing: 'necessary',
          predicted: before.service === undefined ? 'as before' : `${sayTime(before.service)}, within 30 %`,
          refutes: 'servers that are still slow',
          seen:
            before.service === undefined || after.service === undefined
              ? undefined
              : { text: sayTime(after.service), holds: after.service <= 1.3 * before.service },
          missing: 'the time of the work itself, without waiting',
        }),
        claim('Tries are a multiple of the requests, and that is what keeps it down.', {
          bearing: 'sufficient',
          predicted:
            retries === undefined ? 'at least 1.5 for each request' : `${retries + 1} for each request, within 20 %`,
          refutes: 'about one try',
          seen:
            ratio === undefined || dead === undefined
              ? undefined
              : {
                  text: `${digits(ratio)} for each, ${percent(dead)} of the successes`,
                  holds: ratio >= (retries === undefined ? 1.5 : 0.8 * (retries + 1)) && ratio >= 1.5 && dead < 0.5,
                  origins: tries === undefined ? [] : [tries.origin],
                },
          missing: 'tries and requests over time',
        }),
        claim('Tries exceed capacity, the requests alone do not.', {
          bearing: dead !== undefined && dead < 0.5 && tries === undefined ? 'sufficient' : 'supporting',
          predicted:
            capacity === undefined
              ? 'between the two'
              : `${say(capacity, 'requests/s')} = ${workers} ÷ ${sayTime(serviceTime ?? 0)}, between requests and tries`,
          refutes: 'capacity below the demand, or above the tries',
          seen:
            capacity === undefined || demanded === undefined
              ? undefined
              : {
                  text: `${say(demanded, 'requests/s')} requests, ${say(after.tries ?? wanted ?? 0, 'requests/s')} tries`,
                  holds: demanded < capacity && (after.tries ?? wanted ?? 0) >= 0.98 * capacity,
                },
          missing: 'workers and the time of the work',
        }),
        claim('The wait in the queue grows by the surplus.', {
          bearing: 'supporting',
          predicted:
            predictedGrowth === undefined ? 'steadily' : `${predictedGrowth.toFixed(2)} s a second, within 30 %`,
          refutes: 'a queue that shrinks',
          seen:
            growth === undefined
              ? undefined
              : {
                  text: `${growth.toFixed(2)} s a second`,
                  holds:
                    predictedGrowth === undefined
                      ? growth > 0
                      : Math.abs(growth - predictedGrowth) <= 0.3 * predictedGrowth + 0.02,
                },
          missing: 'the wait in the queue over time',
        }),
      ],
      culprit: `client retry policy: ${retries === undefined ? digits(ratio ?? 0) : retries + 1} attempts${timeoutText(view)}${view.setting('retry.budget') === undefined ? ', no budget' : ''}${(view.number('retry.backoff') ?? 0) === 0 ? ', no backoff' : ''}`,
      sentence:
        `A trigger of ${sayTime((endMs - beginMs) / 1000)} ended ${sayTime(lasted)} before the evidence does, and it is still failing: ` +
        `${demanded === undefined ? 'the demand' : say(demanded, 'requests/s')} become ${say(after.tries ?? wanted ?? 0, 'requests/s')} of tries${capacity === undefined ? '' : `, and the servers can do ${say(capacity, 'requests/s')}`}. All work is for callers that have given up.`,
      arithmetic: [
        ...(demanded === undefined || wanted === undefined || retries === undefined
          ? []
          : [`${say(demanded, 'requests/s')} × ${retries + 1} tries = ${say(wanted, 'requests/s')}`]),
        ...(capacity === undefined
          ? []
          : [`${workers} workers ÷ ${sayTime(serviceTime ?? 0)} = ${say(capacity, 'requests/s')}`]),
        ...(capacity === undefined || demanded === undefined
          ? []
          : [
              `use without retries ${percent(demanded / capacity)}; recovers below ${say(capacity / ((retries ?? Math.max(0, (ratio ?? 1) - 1)) + 1), 'requests/s')}`,
            ]),
      ],
    };
  },
};

interface Course {
  readonly demand: SeriesFact | undefined;
  readonly tries: SeriesFact | undefined;
  readonly success: SeriesFact | undefined;
  readonly service: SeriesFact | undefined;
  readonly queue: SeriesFact | undefined;
  readonly firstMs: number;
  readonly beginMs: number;
  readonly endMs: number;
  readonly lastMs: number;
  readonly stepMs: number;
}

const names = {
  tries: /attempt|tries|upstream_(calls|requests)|backend_requests/,
  demand:
    /(client|user|offered|inbound|incoming|original|external|arriv)\w*(requests?|rate|rps|per_s)|^requests?(_per_s\w*|_rate|ps)$|offered|demand/,
  success: /success|goodput|good_(?:responses|rps)|(?:^|_)ok(?:_|$)|in_time|answered/,
  service:
    /service_?time|handler_seconds|work_seconds|server_latency|dependency_(latency|seconds|time)|processing_seconds/,
  queue: /queue_?(wait|delay|age|time)|wait_seconds|time_in_queue/,
};

/** The series that tell the course, and when the trigger was: from events, else from the service time that rose and fell. */
function courseOf(view: View): Course | undefined {
  const of = (pattern: RegExp, not?: RegExp): SeriesFact | undefined => seriesLike(view, pattern, not);
  const success = of(names.success, /share|ratio|percent/);
  const demand = of(names.demand, /attempt|tries|retries|success|goodput|latency|seconds_max/);
  const retried = of(/retr(?:y|ies)\w*(?:per_s|rate|rps)|^retries$/, /share|ratio|percent/);
  const tries =
    of(names.tries, /retries/) ?? (demand === undefined || retried === undefined ? undefined : added(demand, retried));
  const service = of(names.service, /queue|wait/);
  const queue = of(names.queue);
  if (success === undefined || (tries === undefined && demand === undefined)) return undefined;
  const firstMs = success.atMs[0] ?? 0;
  const lastMs = success.atMs.at(-1) ?? 0;
  const stepMs = success.atMs.length < 2 ? 1000 : (lastMs - firstMs) / (success.atMs.length - 1);
  const trigger = triggerOf(view, firstMs, lastMs) ?? bumpOf(service) ?? fallOf(success);
  if (trigger === undefined) return undefined;
  return { demand, tries, success, service, queue, firstMs, lastMs, stepMs, ...trigger };
}

/** The first thing that happened and the last, where at least two did. */
function triggerOf(view: View, firstMs: number, lastMs: number): { beginMs: number; endMs: number } | undefined {
  const inside = ({ atMs }: { readonly atMs: number | undefined }): boolean =>
    atMs !== undefined && atMs >= firstMs && atMs <= lastMs;
  const begin = view.events((one) => one.event === 'trigger-start' && inside(one))[0]?.atMs;
  const end = view.events((one) => one.event === 'trigger-end' && inside(one)).at(-1)?.atMs;
  if (begin !== undefined && end !== undefined && end > begin) return { beginMs: begin, endMs: end };
  const all = view.events(inside).flatMap(({ atMs }) => atMs ?? []);
  const first = all[0];
  const last = all.at(-1);
  return first === undefined || last === undefined || first === last ? undefined : { beginMs: first, endMs: last };
}

/** A service time that was higher for a while and came back. */
function bumpOf(service: SeriesFact | undefined): { beginMs: number; endMs: number } | undefined {
  if (service === undefined) return undefined;
  const usual = service.values.toSorted((one, other) => one - other)[Math.floor(service.values.length / 2)] ?? 0;
  const high = service.atMs.filter((_, index) => (service.values[index] ?? 0) > 1.5 * usual);
  const first = high[0];
  const last = high.at(-1);
  if (first === undefined || last === undefined || last === service.atMs.at(-1)) return undefined;
  return { beginMs: first, endMs: last };
}

/** Nothing says what it was: then it began where the successes ended, and was over at once, as far as anybody saw. */
function fallOf(success: SeriesFact): { beginMs: number; endMs: number } | undefined {
  const shift = shiftOf(success);
  return shift === undefined || shift.after > 0.5 * shift.before
    ? undefined
    : { beginMs: shift.fromMs, endMs: shift.toMs };
}

function timeoutText(view: View): string {
  const timeout =
    view.number('downstream.request-timeout') ??
    view.number('route.per-try-timeout') ??
    view.number('dependency.timeout');
  return timeout === undefined ? '' : `, ${sayTime(timeout)} timeout`;
}
