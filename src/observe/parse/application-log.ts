// Logs of applications: a time, a level, words; or the same as `key=value` pairs (logfmt). Each line is a message with the code
// of what it complains about. A pool that prints its state in brackets gives series:
//
//   … HikariPool - main - Timeout failure stats (total=40, active=40, idle=0, waiting=94)

import { type LineFormat, type LineReader, shareOfLines } from './format.ts';
import { leadingInstant } from './instants.ts';
import { messageCode } from './message-codes.ts';
import type { Sink } from './sink.ts';

const level = /\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|ALERT|LOG|PANIC)\b/i;
const logfmt = /(?:^|\s)(?:time|ts|t)=("[^"]*"|\S+)(?=\s).*\b(?:level|lvl)=(\w+)/;
const bracketed = /\(((?:[a-z_]+=[\d.]+(?:, |(?=\))))+)\)/i;

/** How long a pool lets one wait, told by those that waited in vain: `HikariPool-1 - Connection is not available, request timed out after 30000ms`. */
const waited =
  /(?:(\S*[Pp]ool\S*)(?: - \S+)? - )?(?:connection is not available|(?:acquir|obtain|checkout|borrow)\w*.{0,60}connection).{0,60}timed? ?out.{0,20}\bafter (\d+) ?(ms|s)\b/i;

/** Who was not reached. */
const peer = /\b(?:dial (?:tcp|udp)|connect(?:ing|ion)? to|lookup)\s+([\w.-]+(?::\d+)?)/i;

export const applicationLog: LineFormat = {
  kind: 'lines',
  name: 'application log',
  recognise(head) {
    const share = shareOfLines(head, (line) => partsOf(line) !== undefined);
    return share === 0 ? 0 : 0.2 + 0.35 * share;
  },
  open: applicationLogReader,
};

interface Parts {
  readonly atMs: number | undefined;
  readonly level: string;
  readonly text: string;
}

/** The time, the level and the words of a line; undefined when it has no time or no level. */
function partsOf(line: string): Parts | undefined {
  const pairs = logfmt.exec(line);
  if (pairs !== null) {
    const said = [...line.matchAll(/(?:^|\s)(?:msg|message|error|err)=(?:"((?:\\.|[^"\\])*)"|(\S+))/g)];
    return {
      atMs: leadingInstant((pairs[1] ?? '').replaceAll('"', ''))?.ms,
      level: (pairs[2] ?? '').toLowerCase(),
      text: said.map((found) => (found[1] ?? found[2] ?? '').replaceAll(String.raw`\"`, '"')).join(': '),
    };
  }
  const begin = line.startsWith('[') ? 1 : 0;
  const time = leadingInstant(line, begin);
  if (time === undefined) return undefined;
  const rest = line.slice(time.end);
  const found = level.exec(rest.slice(0, 60));
  if (found === null) {
    // Levels in other languages, or none: what a library complains of is said in the library's words all the same.
    return messageCode(rest) === undefined ? undefined : { atMs: time.ms, level: 'none', text: rest.trim() };
  }
  return {
    atMs: time.ms,
    level: (found[1] ?? '').toLowerCase(),
    text: rest.slice(found.index + found[0].length).replace(/^[\]:\s]+/, ''),
  };
}

function applicationLogReader(sink: Sink): LineReader {
  const limits = new Set<string>();
  const series = new Map<
    string,
    { name: string; labels: Record<string, string>; points: { atMs: number; value: number }[] }
  >();
  return {
    line(text, number) {
      const parts = partsOf(text);
      if (parts === undefined) return false;
      const code = messageCode(parts.text) ?? `log-${parts.level}`;
      const subject = peer.exec(parts.text)?.[1];
      sink.message({
        program: 'application',
        atMs: parts.atMs,
        code,
        ...(subject === undefined ? {} : { subject }),
        text: parts.text,
        line: number,
      });
      readLimit(parts.text, number);
      readLag(parts);
      const numbers = bracketed.exec(parts.text);
      if (numbers !== null && parts.atMs !== undefined) state(parts.text, numbers[1] ?? '', parts.atMs);
      return true;
    },
    end() {
      for (const { name, labels, points } of series.values()) sink.series(name, labels, points);
    },
  };

  function readLimit(text: string, line: number): void {
    const found = waited.exec(text);
    if (found === null) return;
    const scope = `pool ${found[1] ?? ''}`.trim();
    // Programs add the turn of their own clock: 250 ms are told as 251.
    if (limits.has(scope)) return;
    limits.add(scope);
    const seconds = Number(found[2]) * (found[3] === 'ms' ? 1e-3 : 1);
    sink.setting({ program: 'application', scope, key: 'pool.acquire-timeout', value: seconds, line });
  }

  /** `event loop delay: p50=1.2ms p99=842ms`: of several the longest. */
  function readLag({ text, atMs }: Parts): void {
    if (atMs === undefined || !/event[ -]?loop.{0,40}(?:delay|lag|block)/i.test(text)) return;
    const times = [...text.matchAll(/([\d.]+) ?(ms|s)\b/g)].map(
      ([, number, unit]) => Number(number) * (unit === 'ms' ? 1e-3 : 1),
    );
    if (times.length === 0) return;
    const one = series.get('lag') ?? { name: 'event_loop_lag_seconds', labels: {}, points: [] };
    one.points.push({ atMs, value: Math.max(...times) });
    series.set('lag', one);
  }

  function state(text: string, pairs: string, atMs: number): void {
    const pool = /Pool\S* - (\S+) -/.exec(text)?.[1];
    const prefix = /pool/i.test(text) ? 'pool' : 'log';
    for (const found of pairs.matchAll(/([a-z_]+)=([\d.]+)/gi)) {
      const name = `${prefix}_${found[1] ?? ''}`;
      const labels: Record<string, string> = pool === undefined ? {} : { pool };
      const id = `${name} ${pool ?? ''}`;
      const one = series.get(id) ?? { name, labels, points: [] };
      one.points.push({ atMs, value: Number(found[2]) });
      series.set(id, one);
    }
  }
}
