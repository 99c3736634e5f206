// The receiver closes an idle connection in the moment in which the sender uses it again.

import type { MessageFact, RequestTable, SettingFact } from '../../../record.ts';
import { binomialAtMost } from '../../../stats.ts';
import { digits, percent } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { medianOf, rowsWhere, type View } from '../view.ts';
import { hasSymptoms } from '../view-symptoms.ts';
import { nativeName, ownerOf, sayCountSetting, sayDurationSetting, sayPart, sayTime } from '../view-words.ts';
import { greatestOf, leastOf } from '../view-rows.ts';

export const keepaliveRace: DossierTheory = {
  slug: 'keepalive-race',
  title: 'Keep-alive race: the receiver closes first',
  mechanism:
    'A proxy keeps connections to a server open for the next request, the server closes them when they were idle for a while. ' +
    'Where the server’s patience is the shorter one, sooner or later a request is sent in the moment of closing and is ' +
    'reset: a failure at once, with nothing in the server’s log, after a pause in the traffic. It is worst when there is ' +
    'little to do.',
  refutedBy:
    'A sender that gives connections up before the receiver does, or failures that took time or were answered.',
  provedBy:
    'Failures without an answer and without delay that come after the receiver’s idle time, or a count of connections ' +
    'closed under a request that equals the failures, or both idle times in the wrong order with no traffic needed.',
  lookAlikes: [
    'drain-race',
    'an application that answers with errors',
    'a target that cannot be reached',
    'overload-open-loop',
  ],
  fix: 'The sender must give up first: its idle timeout below the receiver’s keep-alive time (and that below the header timeout of the receiver). Retry resets of idempotent requests on a fresh connection.',
  decidedBy:
    'the idle timeout of the side that sends and the keep-alive time of the side that receives, and for each failure how long the connection had been idle',
  explains: [],

  examine(view) {
    const pair = raceOf(view);
    const resets = resetsOf(view);
    const pooled = view.setting('upstream.keepalive-connections');
    const told = resetMessages(view);
    const named = told.filter(({ text }) => closedIdle.test(text));
    if (pair === undefined && resets === undefined && named.length === 0 && (told.length === 0 || pooled === undefined))
      return undefined;
    const receiver = pair === undefined ? undefined : Number(pair.receiver.value);
    const pauses = resets === undefined ? undefined : pausesOf(resets, receiver);
    const closed = view.total((name) => name.endsWith('destroy_remote_with_active_rq'));
    const failed = failuresOf(view);
    const bare = !hasSymptoms(view);
    return {
      ...(pair === undefined
        ? { decidedBy: 'the keep-alive time of the servers and the idle timeout of the pool in front of them' }
        : {}),
      basis: resets === undefined && told.length === 0 && (closed?.value ?? 0) === 0 ? 'configured' : 'seen',
      claims: [
        claim('The side that sends keeps idle connections longer than the side that receives.', {
          bearing: 'necessary',
          predicted: receiver === undefined ? 'longer than the receiver' : `at least ${sayTime(receiver)}`,
          refutes: 'a sender that gives up first',
          seen:
            pair === undefined
              ? undefined
              : {
                  text: `${sayDurationSetting(pair.sender)}; ${sayDurationSetting(pair.receiver)}`,
                  holds: Number(pair.sender.value) >= Number(pair.receiver.value),
                  origins: [pair.sender.origin, pair.receiver.origin],
                },
          missing: 'the idle timeout of the sender and the keep-alive time of the receiver',
        }),
        claim('Connections are kept for later requests at all.', {
          bearing: 'necessary',
          predicted: 'a pool of at least one connection',
          refutes: 'a new connection for every request',
          seen:
            pooled === undefined || (pair !== undefined && pair.sender.program !== pooled.program)
              ? undefined
              : { text: sayCountSetting(pooled), holds: pooled.value !== 0, origins: [pooled.origin] },
          missing: 'whether the sender pools connections',
        }),
        claim('Some failures have no answer of the receiver and take no time.', {
          bearing: 'necessary',
          predicted: 'failures below 0.1 s that the receiver never answered',
          refutes: 'only failures that were answered or that took time',
          seen:
            resets === undefined
              ? failed === 0
                ? undefined
                : { text: `${failed} failures, none of them such`, holds: false }
              : {
                  text: `${sayPart(resets.rows.length, resets.failures)} of the failures, the slowest after ${sayTime(resets.slowest)}`,
                  holds: true,
                  origins: [resets.table.origin],
                },
          missing: 'an access log with durations and the upstream’s own status',
        }),
        claim('They come where a connection had been idle for as long as the receiver waits.', {
          bearing: 'sufficient',
          predicted:
            receiver === undefined
              ? 'all after pauses of one length, hardly any success there'
              : `after at least ${sayTime(receiver)} without a request`,
          refutes: 'failures in the middle of traffic',
          seen:
            pauses === undefined
              ? undefined
              : { text: pauses.text, holds: pauses.holds, origins: resets === undefined ? [] : [resets.table.origin] },
          missing: 'for each failure, how long the connection had been idle',
        }),
        claim(
          'Hardly any request fails, and each that does fails so: without an answer and at once, now here and now there.',
          {
            bearing: 'sufficient',
            predicted: 'below 5 % of the requests, over most of the time, at servers that answer the others',
            refutes: 'failures of another kind, many at once, or of a server that answers nobody',
            seen: pair === undefined || resets === undefined ? undefined : sprinkled(resets, closed?.value),
            missing: 'both idle times, and a log with failures in it',
          },
        ),
        claim('The proxy counted connections that the other side closed under a request.', {
          bearing: 'sufficient',
          predicted:
            failed === 0 ? 'at least one' : `${resets?.rows.length ?? failed}, as many as failures without an answer`,
          refutes: 'none, or another number',
          seen:
            closed === undefined || pair === undefined
              ? undefined
              : {
                  text: `${closed.value} (${closed.name})`,
                  holds:
                    closed.value > 0 &&
                    (resets === undefined ||
                      Math.abs(closed.value - resets.rows.length) <= 0.2 * resets.rows.length + 1),
                  origins: closed.origins,
                },
          missing: 'the proxy’s count of connections closed with a request under way',
        }),
        claim('The proxy was reset while it waited for the first byte of an answer.', {
          bearing: pair === undefined ? 'supporting' : 'sufficient',
          predicted: 'resets or early ends, no timeouts',
          refutes: 'none',
          seen:
            told.length === 0 || view.messages('no-live-upstreams', 'upstream-refused').length > 0
              ? undefined
              : {
                  text: `${told.length} in its error log`,
                  holds: true,
                  origins: told.slice(0, 2).map((one) => one.origin),
                },
          missing: 'the proxy’s error log',
        }),
        claim('The sender said that an idle connection was closed under its request.', {
          bearing: 'sufficient',
          predicted: 'words to that effect',
          refutes: 'none',
          seen:
            named.length === 0
              ? undefined
              : {
                  text: `${named.length} × ${named[0]?.text.slice(0, 100) ?? ''}`,
                  holds: true,
                  origins: named.slice(0, 2).map((one) => one.origin),
                },
          missing: 'the error texts of whoever sends',
        }),
        claim('The two idle times alone are in the wrong order.', {
          bearing: 'sufficient',
          predicted:
            receiver === undefined ? 'both written or implied' : `a sender with less than ${sayTime(receiver)}`,
          refutes: 'the right order',
          seen:
            pair === undefined || !bare
              ? undefined
              : {
                  text: sayDurationSetting(pair.sender),
                  holds: Number(pair.sender.value) >= Number(pair.receiver.value),
                },
          missing: 'both idle times; where there is traffic, it decides',
        }),
      ],
      culprit:
        pair === undefined
          ? (fromLog(resets, pauses) ?? fromReceiver(view))
          : `${ownerOf(pair.receiver)} ${nativeName(pair.receiver)} ${sayTime(Number(pair.receiver.value))} below ${ownerOf(pair.sender)} ${nativeName(pair.sender)} ${sayTime(Number(pair.sender.value))}`,
      sentence:
        pair === undefined
          ? 'Requests fail at once, without an answer, after pauses in the traffic: they were sent on connections that the other side was closing.'
          : `${ownerOf(pair.receiver)} closes idle connections after ${sayTime(Number(pair.receiver.value))}, ${ownerOf(pair.sender)} uses them for ${sayTime(Number(pair.sender.value))}: a request that is sent in between is reset.`,
      arithmetic: [
        ...(pair === undefined
          ? []
          : [
              `sender ${sayTime(Number(pair.sender.value))} ≥ receiver ${sayTime(Number(pair.receiver.value))}; it must be <`,
            ]),
        ...(pauses === undefined ? [] : [pauses.text]),
      ],
    };
  },
};

/** Clients that say it outright: Go’s transport, Java’s HttpClient, Python’s http.client. */
const closedIdle =
  /server closed idle connection|NoHttpResponseException|failed to respond|remote end closed connection without response|backend_connection_closed_before_data_sent/i;
const resetTexts =
  /connection reset by peer|ECONNRESET|socket hang up|upstream prematurely closed|reset reason: connection termination|broken pipe/i;

function resetMessages(view: View): readonly MessageFact[] {
  const { messages } = view.dossier;
  return messages.filter(
    ({ code, text }) =>
      code === 'upstream-reset' || code === 'upstream-closed-early' || closedIdle.test(text) || resetTexts.test(text),
  );
}

interface Race {
  readonly sender: SettingFact;
  readonly receiver: SettingFact;
}

/** One hop: who sends over a pool, and who receives. Of several hops the worst. */
function raceOf(view: View): Race | undefined {
  const numbers = (setting: SettingFact): boolean => typeof setting.value === 'number';
  const senders = view.settings('upstream.idle-timeout').filter(numbers);
  // A balancer that has one idle timeout for both sides is a sender too.
  const balancers = view
    .settings('downstream.idle-timeout')
    .filter((one) => numbers(one) && /load.?balancer|ingress|service/i.test(one.scope));
  const receivers = receiversOf(view);
  const pairs = [...senders, ...balancers].flatMap((sender) =>
    receivers
      .filter(
        (one) => one.origin.file !== sender.origin.file && !(one.program === sender.program && one.program !== 'nginx'),
      )
      // Behind a zero keep-alive every connection is closed after its answer, and the sender is told so.
      .filter((one) => Number(one.value) > 0)
      .map((receiver) => ({ sender, receiver })),
  );
  return pairs.toSorted((one, other) => margin(one) - margin(other))[0];
}

function receiversOf(view: View): SettingFact[] {
  const written = view
    .settings('downstream.keepalive-timeout', 'downstream.idle-timeout')
    .filter(({ value }) => typeof value === 'number');
  return [...written, ...runtimeDefaults(view, written)];
}

/** What a server’s runtime does with idle connections when it was told nothing, as documented. Seconds. */
const runtimes: readonly (readonly [RegExp, string, number])[] = [
  [/gunicorn/i, 'gunicorn', 2],
  [/uvicorn|hypercorn/i, 'uvicorn', 5],
  [/node|express|fastify|nest|next/i, 'node', 5],
  [/puma/i, 'puma', 20],
  [/tomcat/i, 'tomcat', 20],
  [/apache|httpd/i, 'apache', 5],
];

function runtimeDefaults(view: View, written: readonly SettingFact[]): SettingFact[] {
  return view.settings('program.runtime').flatMap((runtime): SettingFact[] => {
    if (written.some((one) => one.origin.file === runtime.origin.file)) return [];
    const known = runtimes.find(([pattern]) => pattern.test(String(runtime.value)));
    if (known === undefined) return [];
    const [, program, value] = known;
    return [{ ...runtime, program, key: 'downstream.keepalive-timeout', value, implied: true }];
  });
}

function margin({ sender, receiver }: Race): number {
  return Number(receiver.value) / Math.max(1e-9, Number(sender.value));
}

interface Resets {
  readonly table: RequestTable;
  readonly rows: readonly number[];
  readonly failures: number;
  readonly slowest: number;
}

/** Failures that the upstream never answered and that took no time, of the log that has most of them. */
function resetsOf(view: View): Resets | undefined {
  const found = view.tables.flatMap((table): Resets[] => {
    const closed = table.flags.map((flag) => /\bUC\b/.test(flag));
    const failures = rowsWhere(
      table,
      (row) => (table.status[row] ?? -1) >= 500 || closed[table.flag[row] ?? -1] === true,
    );
    const rows = failures.filter(resetsIn(table));
    if (rows.length === 0) return [];
    return [
      { table, rows, failures: failures.length, slowest: greatestOf(rows.map((row) => table.seconds[row] ?? 0)) },
    ];
  });
  return found.toSorted((one, other) => other.rows.length - one.rows.length)[0];
}

/** Whether resets are few, the only failures, spread over the log’s time, and at servers that otherwise answer. */
function sprinkled(
  { table, rows, failures }: Resets,
  counted: number | undefined,
): { text: string; holds: boolean } | undefined {
  const times = [...table.startMs].filter((at) => !Number.isNaN(at));
  if (rows.length < 3 || times.length < 20) return undefined;
  const own = rows.map((row) => table.startMs[row] ?? Number.NaN).filter((at) => !Number.isNaN(at));
  const span = (greatestOf(own) - leastOf(own)) / Math.max(1, greatestOf(times) - leastOf(times));
  const failing = new Set(rows);
  const answering = new Set(
    rowsWhere(table, (row) => !failing.has(row) && (table.status[row] ?? -1) < 500).map(
      (row) => table.replica[row] ?? -1,
    ),
  );
  const alive = rows.every((row) => answering.has(table.replica[row] ?? -1));
  // Many times as many as the log knows of: then what the log shows is not all that breaks.
  const more = counted !== undefined && counted > 5 * rows.length + 5;
  return {
    text: `${sayPart(rows.length, table.count)} of the requests${more ? ` (the proxy counted ${digits(counted)})` : ''}, over ${percent(Math.max(0, span))} of the time`,
    holds: !more && rows.length === failures && rows.length < 0.05 * table.count && span >= 0.4 && alive,
  };
}

const resetFlag = /\bUC\b|upstream_reset_before_response_started|connection_termination|backend_connection_closed|^SH/;
/** Ends that have another name: refused, overflow, nobody to ask, a timeout. */
const otherFlag =
  /\b(?:UO|UH|UF|UT|NR|RL|LH|FI)\b|^(?:s|S[CDL]|P|L|R|D|K|c|C)|overflow|no_healthy|no-target|not-reached/;

/** Says of each row whether the upstream was asked, never answered, and failed at once. */
function resetsIn(table: RequestTable): (row: number) => boolean {
  const isResetFlag = table.flags.map((flag) => resetFlag.test(flag));
  const isOtherFlag = table.flags.map((flag) => otherFlag.test(flag));
  const tellsStatus = table.upstreamStatus.some((status) => status >= 0);
  const tellsTime = table.upstreamSeconds.some((seconds) => !Number.isNaN(seconds));
  return (row) => {
    const flag = table.flag[row] ?? -1;
    if (!((table.seconds[row] ?? Number.NaN) < 0.1)) return false;
    if (isResetFlag[flag] === true) return true;
    if (isOtherFlag[flag] === true || !(tellsStatus || tellsTime)) return false;
    // Without a word from the proxy: somebody was asked (or the log does not say whom), and nobody answered.
    const asked = table.replicas.length === 0 || (table.replica[row] ?? -1) >= 0;
    const status = table.upstreamStatus[row] ?? -1;
    // Where the upstream broke off nginx writes its own 502 for the upstream's.
    const answered = tellsStatus
      ? status >= 0 && !(table.program === 'nginx' && status === 502)
      : !Number.isNaN(table.upstreamSeconds[row] ?? Number.NaN);
    return asked && !answered;
  };
}

function failuresOf(view: View): number {
  return view.tables.reduce(
    (sum, table) => sum + rowsWhere(table, (row) => (table.status[row] ?? -1) >= 500).length,
    0,
  );
}

/** Only the receiver’s side is known. */
function fromReceiver(view: View): string | undefined {
  const [receiver] = receiversOf(view).toSorted((one, other) => Number(one.value) - Number(other.value));
  return receiver === undefined
    ? undefined
    : `${ownerOf(receiver)} ${nativeName(receiver)} ${sayTime(Number(receiver.value))} below the idle time of the sender’s pool`;
}

interface Pauses {
  readonly text: string;
  readonly holds: boolean;
  /** The shortest pause before a failure, seconds. */
  readonly least: number;
}

/** Without the settings: who sent to whom, and after how long the other side closes, as the failures tell it. */
function fromLog(resets: Resets | undefined, pauses: Pauses | undefined): string | undefined {
  if (resets === undefined || pauses === undefined) return undefined;
  const { table, rows } = resets;
  const targets = [...new Set(rows.map((row) => table.replicas[table.replica[row] ?? -1]))].filter(
    (one) => one !== undefined,
  );
  const where = targets.length === 0 || targets.length > 3 ? 'the servers' : targets.join(', ');
  return `${where}: keep-alive time of about ${sayTime(Math.round(pauses.least * 10) / 10)}, below the idle timeout of the pool of ${table.program}`;
}

/** By chance alone the failures would fall after pauses this seldom. */
const luckMax = 0.01;
/** The same where the pause is read off the failures themselves. */
const luckMaxInferred = 0.001;

/**
 * How long it had been quiet before each failure: at the same replica where the log names it, else altogether. A burst counts
 * with its first, as all pooled connections had been idle alike. Held against chance: as likely as any other request, so many
 * failures would come after such a pause with the binomial probability that is given.
 */
function pausesOf(resets: Resets, receiver: number | undefined): Pauses | undefined {
  const { table, rows } = resets;
  if (!table.startMs.some((at) => !Number.isNaN(at))) return undefined;
  const gaps = gapsOf(table, rows);
  const failing = rows.flatMap((row) => gaps.get(row) ?? []);
  if (failing.length < Math.min(2, rows.length)) return undefined;
  const bad = new Set(rows);
  const usual = medianOf([...gaps].filter(([row]) => !bad.has(row)).map(([, gap]) => gap)) ?? 0;
  const least = 0.98 * (receiver ?? leastOf(failing));
  const late = failing.filter((gap) => gap >= least);
  const quiet = [...gaps.values()].filter((gap) => gap >= least).length / gaps.size;
  const luck = 1 - binomialAtMost(late.length - 1, failing.length, quiet);
  const together = late.length >= 0.8 * failing.length;
  const inferred = failing.length >= 3 && least > 4 * usual && least >= 1 && luck < luckMaxInferred;
  return {
    text:
      `${late.length} of ${failing.length} after at least ${sayTime(leastOf(late.length > 0 ? late : failing))} of quiet, ` +
      `where ${percent(quiet)} of all requests come (by chance with probability ${luck.toPrecision(2)})`,
    holds: together && (receiver === undefined ? inferred : luck < luckMax),
    least: leastOf(late.length > 0 ? late : failing),
  };
}

/** Seconds since the end of the request before, row by row; within a burst those of its first. */
function gapsOf(table: RequestTable, failing: readonly number[]): Map<number, number> {
  const gaps = new Map<number, number>();
  const named = failing.every((row) => (table.replica[row] ?? -1) >= 0) && table.replicas.length > 0;
  const order = rowsWhere(table, (row) => !Number.isNaN(table.startMs[row] ?? Number.NaN)).toSorted(
    (one, other) => (table.startMs[one] ?? 0) - (table.startMs[other] ?? 0),
  );
  const bad = new Set(failing);
  const last = new Map<number, { endMs: number; gap: number; failing: boolean }>();
  for (const row of order) {
    const key = named ? (table.replica[row] ?? -1) : 0;
    const startMs = table.startMs[row] ?? 0;
    const before = last.get(key);
    const gap = before === undefined ? undefined : Math.max(0, (startMs - before.endMs) / 1000);
    const burst = before !== undefined && before.failing && bad.has(row) && gap !== undefined && gap < 1;
    const own = burst ? before.gap : gap;
    if (own !== undefined) gaps.set(row, own);
    const seconds = table.seconds[row] ?? Number.NaN;
    last.set(key, {
      endMs: startMs + (Number.isNaN(seconds) ? 0 : seconds * 1000),
      gap: own ?? 0,
      failing: bad.has(row),
    });
  }
  return gaps;
}
