// JSON, one object a line, that is no access log: what happened when (a timeline, events), what a program said, or numbers at
// instants. Which of them a line is, it tells by its keys:
//
//   {"ts": …, "kind": "backend-sync", "service": "shop", "endpoints": 60}     an event
//   {"ts": …, "level": "error", "msg": "dial tcp …: connection refused"}        a message
//   {"ts": …, "ListenOverflows": 3378, "established": 345}                     numbers, each a series

import { fieldOf } from './access-fields.ts';
import { eventOf } from './event-words.ts';
import { firstLines, type LineFormat, type LineReader, shareOfLines } from './format.ts';
import { parseInstant } from './instants.ts';
import { type JsonPair, pairsOf } from './json-access.ts';
import { messageCode } from './message-codes.ts';
import { settingOf } from './setting-words.ts';
import type { Sink } from './sink.ts';

const eventKeys = ['kind', 'event', 'what', 'reason', 'action', 'type', 'change', 'note'];
const subjectKeys = [
  'pod',
  'service',
  'target',
  'host',
  'node',
  'server',
  'backend',
  'endpoint',
  'name',
  'object',
  'subject',
  'ip',
  'deployment',
];
const textKeys = ['msg', 'message', 'error', 'err', 'log', 'text'];

export const jsonLines: LineFormat = {
  kind: 'lines',
  name: 'JSON lines',
  recognise(head) {
    const lines = firstLines(head, 3);
    const first = pairsOf(lines[0] ?? '');
    if (first === undefined || !(lines[0] ?? '').trimStart().startsWith('{')) return 0;
    const timed = first.some(([key, value]) => isTime(key, value));
    if (lines.length < 2 && !timed) return 0;
    return (timed ? 0.6 : 0.42) * shareOfLines(head, (line) => pairsOf(line) !== undefined);
  },
  open: jsonLinesReader,
};

function jsonLinesReader(sink: Sink): LineReader {
  const points = new Map<
    string,
    { name: string; labels: Record<string, string>; points: { atMs: number; value: number }[] }
  >();
  let rows = 0;
  return {
    line(text, number) {
      const pairs = pairsOf(text);
      if (pairs === undefined) return false;
      rows += 1;
      const time = pairs.find(([key, value]) => isTime(key, value));
      const atMs = parseInstant(time?.[1])?.ms;
      const others = pairs.filter((pair) => pair !== time && pair[1] !== '');
      return event(others, atMs, number) || message(others, atMs, number) || numbers(others, atMs, number);
    },
    end() {
      for (const series of points.values()) sink.series(series.name, series.labels, series.points);
    },
  };

  function event(pairs: Pairs, atMs: number | undefined, line: number): boolean {
    const found = firstOf(pairs, eventKeys, 'string');
    if (found === undefined || firstOf(pairs, ['level', 'severity', 'lvl'], 'string') !== undefined) return false;
    const subject = firstOf(pairs, subjectKeys, 'any');
    const words = String(found[1]);
    const sentence = /\s/.test(words.trim());
    const detail = pairs
      .filter((pair) => pair !== subject && (pair !== found || sentence))
      .map(([key, value]) => (key === found[0] ? String(value) : `${key}=${String(value)}`));
    sink.event({
      atMs,
      event: eventOf(words),
      ...(subject === undefined ? {} : { subject: String(subject[1]) }),
      ...(detail.length === 0 ? {} : { detail: detail.join(' ') }),
      line,
    });
    return true;
  }

  function message(pairs: Pairs, atMs: number | undefined, line: number): boolean {
    const texts = pairs.filter(([key, value]) => textKeys.includes(key.toLowerCase()) && typeof value === 'string');
    if (texts.length === 0) return false;
    const text = texts.map(([, value]) => String(value)).join(': ');
    const level = firstOf(pairs, ['level', 'severity', 'lvl'], 'any')?.[1];
    const subject = firstOf(pairs, subjectKeys, 'any');
    sink.message({
      program: String(
        firstOf(pairs, ['logger', 'program', 'app', 'service', 'source'], 'string')?.[1] ?? 'application',
      ),
      atMs,
      code: messageCode(text) ?? `log-${String(level ?? 'message').toLowerCase()}`,
      ...(subject === undefined ? {} : { subject: String(subject[1]) }),
      text,
      line,
    });
    return true;
  }

  function numbers(pairs: Pairs, atMs: number | undefined, line: number): boolean {
    const labels: Record<string, string> = {};
    for (const [key, value] of pairs) if (typeof value === 'string' && value.length < 80) labels[key] = value;
    const numeric = pairs.filter(([, value]) => typeof value === 'number' || typeof value === 'boolean');
    if (numeric.length === 0) return false;
    for (const [key, value] of numeric) {
      const setting = typeof value === 'number' && rows === 1 ? settingOf(key, value, 'program') : undefined;
      if (setting !== undefined) sink.setting({ program: 'file', scope: sink.file, ...setting, line });
      if (atMs === undefined) sink.sample(key, { ...labels, row: String(rows) }, Number(value), { line });
      else addPoint(key, labels, atMs, Number(value));
    }
    return true;
  }

  function addPoint(name: string, labels: Record<string, string>, atMs: number, value: number): void {
    const id = `${name} ${JSON.stringify(labels)}`;
    const series = points.get(id) ?? { name, labels, points: [] };
    series.points.push({ atMs, value });
    points.set(id, series);
  }
}

type Pairs = readonly JsonPair[];

function isTime(key: string, value: unknown): boolean {
  const field = fieldOf(key)?.field;
  return (field === 'time' || field === 'start') && parseInstant(value) !== undefined;
}

/** The first of these keys, in their order, that is there. */
function firstOf(pairs: Pairs, keys: readonly string[], kind: 'string' | 'any'): JsonPair | undefined {
  for (const key of keys) {
    const found = pairs.find(
      ([name, value]) => name.toLowerCase() === key && (kind === 'any' || typeof value === 'string'),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}
