// Requests that did not end by themselves. Somebody waited for a fixed time and gave up, so they all took the same time: a
// plateau, where work of its own would spread. Which stage was waited for tells causes apart that share a status: a 504 after
// a plateau in connecting is a target that nobody can reach, after a plateau in answering it is slow work.
//
//   seconds   . ..:.                       . success
//                          |||||||||       ← cut at 15.00
//             0            15

import type { RequestTable, SettingFact, SettingKey } from '../../record.ts';
import { plateauOf, routeOf, type View } from './view.ts';
import { kinship } from './view-words.ts';
import { greatestOf, leastOf } from './view-rows.ts';

export type Stage = 'answer' | 'connect' | 'queue' | 'client' | 'passed-on';

export interface Cut {
  readonly table: RequestTable;
  /** Where it was logged, as the log says; undefined when it does not. */
  readonly place: string | undefined;
  readonly stage: Stage;
  /** Seconds at which they were cut. */
  readonly at: number;
  readonly rows: readonly number[];
  /** Failures of this stage, on the plateau or not. */
  readonly failures: number;
  /** Distance of the first from the last on the plateau, seconds. */
  readonly spread: number;
  /** Of requests in this log that succeeded; undefined: none did. */
  readonly longestSuccess: number | undefined;
  /** The status says success, the end does not: gRPC's errors travel in a trailer. */
  readonly masked: boolean;
}

/** At least so many, and so large a part of the failures, make a plateau. */
const rowsMin = 3;
const shareMin = 0.6;
/** Below this a plateau is the speed of a refusal, not a timeout. */
const secondsMin = 0.1;

/** All plateaus of failures, the longest log first; of one log one for each stage, the earliest cut first. */
export function cutsOf(view: View): Cut[] {
  return view.tables.flatMap((table) => cutsOfTable(view, table)).toSorted((one, other) => one.at - other.at);
}

function cutsOfTable(view: View, table: RequestTable): Cut[] {
  const byStage = new Map<Stage, number[]>();
  const stageOf = stagesOf(view, table);
  for (let row = 0; row < table.count; row++) {
    const stage = stageOf(row);
    if (stage === undefined || !((table.seconds[row] ?? 0) >= secondsMin)) continue;
    const rows = byStage.get(stage);
    if (rows === undefined) byStage.set(stage, [row]);
    else rows.push(row);
  }
  const longestSuccess = longest(table, (row) => stageOf(row) === undefined && !isError(table, row));
  return [...byStage].flatMap(([stage, rows]) => {
    const cut = plateauIn(table, rows) ?? byRoute(table, rows);
    if (cut === undefined) return [];
    const masked = cut.rows.every((row) => (table.status[row] ?? 0) < 400 && (table.status[row] ?? -1) >= 0);
    const place = table.services.length === 1 ? table.services[0] : undefined;
    return [{ table, place, stage, ...cut, failures: rows.length, longestSuccess, masked }];
  });
}

function plateauIn(
  table: RequestTable,
  rows: readonly number[],
): { at: number; rows: number[]; spread: number } | undefined {
  const found = plateauOf(rows.map((row) => table.seconds[row] ?? Number.NaN));
  if (found === undefined || found.count < Math.max(rowsMin, shareMin * rows.length)) return undefined;
  const width = Math.max(0.02, 0.01 * found.at);
  const own = rows.filter((row) => Math.abs((table.seconds[row] ?? 0) - found.at) <= width);
  const seconds = own.map((row) => table.seconds[row] ?? 0);
  return { at: found.at, rows: own, spread: greatestOf(seconds) - leastOf(seconds) };
}

/** Routes may have timeouts of their own: then the one with most failures is looked at alone. */
function byRoute(table: RequestTable, rows: readonly number[]): ReturnType<typeof plateauIn> {
  const routes = Map.groupBy(rows, (row) => routeOf(table, row));
  const [most] = [...routes.values()].toSorted((one, other) => other.length - one.length);
  return most === undefined || most.length === rows.length ? undefined : plateauIn(table, most);
}

/** Says of each row what was waited for when the request was given up; undefined when it was not given up. */
export function stagesOf(view: View, table: RequestTable): (row: number) => Stage | undefined {
  const byFlag = table.flags.map(stageOfFlag);
  const tellsConnecting = table.connectSeconds.some((seconds) => !Number.isNaN(seconds));
  // Where the log has no column for it, the program may have said so in its own words.
  const saysConnecting =
    view.messages('upstream-connect-timeout').length > 0 && view.messages('upstream-timeout').length === 0;
  return (row) => {
    const flagged = byFlag[table.flag[row] ?? -1];
    if (flagged !== undefined) return flagged;
    const status = table.status[row] ?? -1;
    if (status === 499 || status === 460) return 'client';
    if (status === 504 || status === 524 || status === 408) {
      const neverConnected = tellsConnecting && Number.isNaN(table.connectSeconds[row] ?? Number.NaN);
      return neverConnected || saysConnecting ? 'connect' : 'answer';
    }
    return status >= 500 ? 'passed-on' : undefined;
  };
}

const stages: readonly (readonly [RegExp, Stage])[] = [
  [/^target-not-reached$|(?:^|,)UF\b|^(?:sC|SC)/, 'connect'],
  [/^sQ/, 'queue'],
  [
    /^target-no-answer$|(?:^|,)(?:UT|SI|UMSDR)\b|response_timeout|stream_idle_timeout|max_duration|^(?:sH|sD)/i,
    'answer',
  ],
  [/(?:^|,)DC\b|downstream_remote_disconnect|^(?:c|C)[RCHDQL]/, 'client'],
];

function stageOfFlag(flag: string): Stage | undefined {
  return flag.startsWith('-') ? undefined : stages.find(([pattern]) => pattern.test(flag))?.[1];
}

export function isError(table: RequestTable, row: number): boolean {
  return (table.status[row] ?? -1) >= 500;
}

function longest(table: RequestTable, accepts: (row: number) => boolean): number | undefined {
  let most: number | undefined;
  for (let row = 0; row < table.count; row++) {
    const seconds = table.seconds[row] ?? Number.NaN;
    if (seconds > (most ?? Number.NEGATIVE_INFINITY) && accepts(row)) most = seconds;
  }
  return most;
}

// ── who set the time ──

const deadlines: Readonly<Record<Stage, readonly SettingKey[]>> = {
  answer: [
    'route.timeout',
    'upstream.read-timeout',
    'route.per-try-timeout',
    'downstream.request-timeout',
    'dependency.timeout',
    'route.idle-timeout',
    'upstream.idle-timeout',
    'downstream.idle-timeout',
    'workers.service-time',
  ],
  connect: ['upstream.connect-timeout'],
  queue: ['queue.timeout', 'pool.acquire-timeout'],
  client: ['downstream.request-timeout', 'downstream.idle-timeout', 'route.timeout', 'dependency.timeout'],
  'passed-on': [],
};

/** Keys whose value bounds a whole request somewhere on its way. */
export const requestDeadlines: readonly SettingKey[] = [
  'route.timeout',
  'upstream.read-timeout',
  'route.per-try-timeout',
  'downstream.request-timeout',
  'dependency.timeout',
];

/** Settings that say this time: those of the same place first, written ones before implied ones. */
export function bindersOf(view: View, cut: Cut): SettingFact[] {
  return view
    .settings(...deadlines[cut.stage])
    .filter((setting) => saysTime(setting, cut.at))
    .filter((setting) => !setting.key.endsWith('idle-timeout') || setting.program !== 'nginx')
    .toSorted(
      (one, other) =>
        kinship(view, other, cut.table) - kinship(view, one, cut.table) || Number(one.implied) - Number(other.implied),
    );
}

/** A proxy's own cost comes on top of its timeout, never below. */
export function saysTime(setting: SettingFact, seconds: number): boolean {
  const { value } = setting;
  return typeof value === 'number' && seconds >= value * 0.995 - 0.005 && seconds <= value * 1.02 + 0.1;
}

/** What the program does when nobody says otherwise, as its documentation states it. Seconds. */
export const documentedDefaults: Readonly<Record<string, { readonly seconds: number; readonly name: string }>> = {
  envoy: { seconds: 15, name: 'route timeout' },
  nginx: { seconds: 60, name: 'proxy_read_timeout' },
  alb: { seconds: 60, name: 'idle timeout' },
};
