// Work is done in order of arrival, and whoever wanted it has long gone.

import type { Origin } from '../../../record.ts';
import { digits, percent, say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';
import { portsOf } from '../view-ports.ts';
import { amplificationOf } from '../view-retries.ts';
import { level, seriesLike, shiftOf } from '../view-series.ts';
import { sayTime } from '../view-words.ts';

export const metastableStaleBacklog: DossierTheory = {
  slug: 'metastable-stale-backlog',
  title: 'Stale backlog: finished work that nobody waits for',
  mechanism:
    'A backlog that takes longer to work off than its owners wait, worked off in order of arrival, is a trap: everything that is ' +
    'taken from its head has been given up already, so all capacity is spent and nothing is served. New arrivals queue at the ' +
    'end and will have gone as well when it is their turn. What made the backlog may be long over.',
  refutedBy: 'A backlog that is worked off within the time that its owners wait, or work that still serves somebody.',
  provedBy:
    'A backlog whose drain time exceeds any client’s patience, arrivals as before, a busy machine, and hardly anything served.',
  lookAlikes: ['metastable-retry', 'too little processor', 'an attack', 'overload-open-loop'],
  fix: 'Bound the backlog and drop its oldest part, serve the newest first, limit what is taken on (handshakes, connections); then mend what started it.',
  decidedBy: 'length of the backlog, the rate at which it is worked off, the patience of clients, and what was served',
  explains: [
    'proxy-port-exhaustion',
    'overload-open-loop',
    'closed-loop-artifact',
    'accept-queue-overflow',
    'timeout-inversion',
  ],

  examine(view) {
    const age = ageOf(view);
    const backlog = backlogOf(view) ?? age;
    if (backlog === undefined) return undefined;
    const drain = drainOf(view, backlog.text);
    const collapse = collapseOf(view);
    const served = view.gauge((name) => /info_sess_?rate$|(^|_)(requests|responses|success)_per_s$/.test(name));
    if (drain === undefined && collapse === undefined) return undefined;
    // How old the head of the queue is says the same as length ÷ rate, without the rate.
    const seconds = age?.value ?? (drain === undefined || drain.value <= 0 ? undefined : backlog.value / drain.value);
    const retried = triesOver(view);
    const told = view.number('downstream.request-timeout');
    const patience = told ?? 30;
    const ports = portsOf(view);
    const full = ports.toOne === undefined ? undefined : ports.toOne.value / ports.range.ports;
    const byPorts = full !== undefined && full >= 0.97 && full <= 1.1;
    const idle = view.gauge((name) => /idle_pct$|cpu_idle/.test(name));
    const order = view.text('workers.queue-order');
    return {
      claims: [
        claim('It is worked off in order of arrival.', {
          bearing: 'necessary',
          predicted: 'first come, first served',
          refutes: 'newest first, or the old dropped',
          seen: order === undefined ? undefined : { text: order, holds: order === 'fifo' },
          missing: 'the order of the queue',
        }),
        claim('It is not made of tries: each request was made once.', {
          bearing: 'necessary',
          predicted: 'below 1.5 tries for each request',
          refutes: 'a multiple',
          seen: retried === undefined ? undefined : { text: retried.text, holds: retried.ratio < 1.5 },
          missing: 'tries and requests',
        }),
        claim('Working off the backlog takes longer than anybody waits.', {
          bearing: 'necessary',
          predicted: `more than ${sayTime(patience)}${told === undefined ? ' (hardly any client waits longer)' : ''}`,
          refutes: 'a backlog that is worked off in time',
          seen:
            seconds === undefined
              ? undefined
              : {
                  text: workOff(age, backlog, drain, seconds),
                  holds: seconds > patience,
                  origins: [...backlog.origins, ...(drain?.origins ?? [])].slice(0, 3),
                },
          missing: 'the rate at which the backlog is worked off',
        }),
        claim('Arrivals went on as before, and hardly anything is served.', {
          bearing: 'sufficient',
          predicted:
            collapse === undefined
              ? 'arrivals as before, less than a tenth served'
              : `arrivals about ${say(collapse.arrivalsBefore, 'requests/s')}, served below ${say(collapse.servedBefore / 10, 'requests/s')}`,
          refutes: 'served as before, or fewer arrivals',
          seen:
            collapse === undefined || seconds === undefined
              ? undefined
              : {
                  text: `arrivals ${say(collapse.arrivalsAfter, 'requests/s')}, served ${say(collapse.servedAfter, 'requests/s')} of ${say(collapse.servedBefore, 'requests/s')}`,
                  holds:
                    collapse.arrivalsAfter >= 0.7 * collapse.arrivalsBefore &&
                    collapse.arrivalsAfter <= 1.3 * collapse.arrivalsBefore &&
                    collapse.servedAfter < 0.1 * collapse.servedBefore &&
                    seconds > patience,
                  origins: collapse.origins,
                },
          missing: 'arrivals and served requests over time',
        }),
        claim('What is finished serves nobody.', {
          bearing: 'sufficient',
          predicted:
            drain === undefined
              ? 'far more finished than served'
              : `served below ${say(drain.value / 10, 'requests/s')}, a tenth of what is finished`,
          refutes: 'served about as fast as finished',
          seen:
            served === undefined || drain === undefined || seconds === undefined
              ? undefined
              : {
                  text: `${say(drain.value, 'requests/s')} finished, ${say(served.value, 'requests/s')} served (${served.name})`,
                  holds: served.value < drain.value / 10 && seconds > patience,
                  origins: served.origins,
                },
          missing: 'what was served and what was finished at the same time',
        }),
        claim('The machine is busy all the while.', {
          bearing: 'supporting',
          predicted: 'below 10 % idle',
          refutes: 'an idle machine',
          seen:
            idle === undefined
              ? undefined
              : { text: `${idle.value} % idle`, holds: idle.value < 10, origins: idle.origins },
          missing: 'processor use',
        }),
        claim('What started it: source ports towards one server were used up.', {
          bearing: 'supporting',
          predicted: `${ports.range.ports} sockets to one server, within 3 %`,
          refutes: 'far fewer',
          seen:
            ports.toOne === undefined
              ? undefined
              : { text: ports.toOne.text, holds: byPorts, origins: ports.toOne.origins },
          missing: 'what happened when it began',
        }),
      ],
      culprit: `${byPorts ? `source port range exhausted towards one backend (${ports.toOne?.text ?? ''}); ` : ''}FIFO of ${backlog.text}`,
      sentence:
        `${backlog === age ? '' : `${digits(backlog.value)} `}${backlog.text} wait` +
        (seconds === undefined ? '' : `, ${sayTime(Math.round(seconds))} of work`) +
        ': by the time one is done, whoever wanted it has gone. Arrivals are as before; the machine works at its limit and serves nobody' +
        (byPorts ? '. It began when the source ports towards one server ran out.' : '.'),
      arithmetic: [
        ...(seconds === undefined ? [] : [`${workOff(age, backlog, drain, seconds)} > ${sayTime(patience)}`]),
        ...(collapse === undefined
          ? []
          : [
              `served ${say(collapse.servedBefore, 'requests/s')} → ${say(collapse.servedAfter, 'requests/s')} (${percent(collapse.servedAfter / collapse.servedBefore)})`,
            ]),
        ...(byPorts ? [`${ports.toOne?.text ?? ''} of ${ports.range.text}`] : []),
      ],
    };
  },
};

function workOff(age: Amount | undefined, backlog: Amount, drain: Amount | undefined, seconds: number): string {
  const time = sayTime(Math.round(seconds * 10) / 10);
  return age === undefined
    ? `${digits(backlog.value)} ÷ ${say(drain?.value ?? 0, 'requests/s')} = ${time}`
    : `the head of the queue is ${time} old`;
}

interface Amount {
  readonly value: number;
  readonly text: string;
  readonly origins: readonly Origin[];
}

const backlogNames: readonly (readonly [RegExp, string])[] = [
  [/pending_handshakes?$|handshakes?_pending$/, 'pending handshakes'],
  [/info_run_queue$|run_?queue$/, 'pending tasks'],
  [
    /pending_(requests|jobs|messages|tasks)$|queue_(length|depth|size)$|backlog(_size|_length)?$|queued$/,
    'queued requests',
  ],
];

function backlogOf(view: View): Amount | undefined {
  for (const [pattern, text] of backlogNames) {
    const found = view.greatest((name) => pattern.test(name) && !/max|limit/.test(name));
    if (found !== undefined && found.value >= 100) return { value: found.value, text, origins: found.origins };
    const [series] = view.series((name) => pattern.test(name) && !/max|limit|wait|seconds/.test(name));
    const most = Math.max(0, ...(series?.values ?? []));
    if (series !== undefined && most >= 100) return { value: most, text, origins: [series.origin] };
  }
  return undefined;
}

/** How long the oldest of the queue has waited, seconds. */
function ageOf(view: View): Amount | undefined {
  const pattern = /(oldest|head|queue|backlog)\w*(age|wait|delay)\w*|time_in_queue/;
  const unit = (name: string): number => (/_ms$|millis/.test(name) ? 0.001 : 1);
  const series = seriesLike(view, pattern, /count|total/);
  const last = series?.values.at(-1);
  if (series !== undefined && last !== undefined) {
    return { value: last * unit(series.name.toLowerCase()), text: 'queued requests', origins: [series.origin] };
  }
  const found = view.greatest((name) => pattern.test(name) && !/count|total|sum/.test(name));
  return found === undefined
    ? undefined
    : { value: found.value * unit(found.name.toLowerCase()), text: 'queued requests', origins: found.origins };
}

/** What leaves the backlog a second: finished work of its own kind. */
function drainOf(view: View, of: string): Amount | undefined {
  const pattern = /handshake|tasks/.test(of)
    ? /(?:^|_)ssl_?rate$|handshakes_per_s\w*$/
    : /(completed|processed|finished|drained|worked)\w*(_per_s\w*|_rate)$|(completions|service)_rate$/;
  const found = view.gauge((name) => pattern.test(name) && !/max|lim/.test(name));
  if (found !== undefined) return { value: found.value, text: found.name, origins: found.origins };
  const [series] = view.series((name) => pattern.test(name) && !/max|lim/.test(name));
  const last = series?.values.at(-1);
  if (series !== undefined && last !== undefined) return { value: last, text: series.name, origins: [series.origin] };
  const workers = view.number('workers.count');
  const time = view.number('workers.service-time');
  return workers === undefined || time === undefined
    ? undefined
    : { value: workers / time, text: `${workers} ÷ ${sayTime(time)}`, origins: [] };
}

interface Collapse {
  readonly arrivalsBefore: number;
  readonly arrivalsAfter: number;
  readonly servedBefore: number;
  readonly servedAfter: number;
  readonly origins: readonly Origin[];
}

/** Served requests fell for good while arrivals did not. */
function collapseOf(view: View): Collapse | undefined {
  const arrivals = view.series((name) =>
    /(connections?|sessions?|arriv\w*|offered\w*|incoming\w*|client_requests?)_?(per_s\w*|rate)/.test(name),
  )[0];
  const served = view.series(
    (name) =>
      /(http_requests?|requests?|responses?|success\w*|goodput|good|useful|in_time|served|answered)_?(per_s\w*|rate)/.test(
        name,
      ) && !/client|attempt|arriv|offered|connection/.test(name),
  )[0];
  if (arrivals === undefined || served === undefined || arrivals === served) return undefined;
  const shift = shiftOf(served);
  if (shift === undefined) return undefined;
  const firstMs = served.atMs[0] ?? 0;
  const lastMs = (served.atMs.at(-1) ?? 0) + 1;
  const middle = (shift.toMs + lastMs) / 2;
  const before = { served: level(served, firstMs, shift.toMs), arrivals: level(arrivals, firstMs, shift.toMs) };
  const after = {
    served: level(served, middle, lastMs) ?? level(served, shift.toMs, lastMs),
    arrivals: level(arrivals, shift.toMs, lastMs),
  };
  if (
    before.served === undefined ||
    before.arrivals === undefined ||
    after.served === undefined ||
    after.arrivals === undefined
  )
    return undefined;
  return {
    arrivalsBefore: before.arrivals,
    arrivalsAfter: after.arrivals,
    servedBefore: before.served,
    servedAfter: after.served,
    origins: [arrivals.origin, served.origin],
  };
}

/** Tries for each request over the time, from two series or from counters. */
function triesOver(view: View): { readonly ratio: number; readonly text: string } | undefined {
  const [tries] = view.series((name) => /attempt|tries/.test(name));
  const [demand] = view.series(
    (name) => /(client|offered|inbound|user)\w*request/.test(name) && !/attempt|tries/.test(name),
  );
  const made = tries?.values.at(-1);
  const asked = demand?.values.at(-1);
  if (made !== undefined && asked !== undefined && asked > 0) {
    return { ratio: made / asked, text: `${digits(made)} tries for ${digits(asked)} requests` };
  }
  const counted = amplificationOf(view);
  return counted === undefined ? undefined : { ratio: counted.ratio, text: counted.text };
}
