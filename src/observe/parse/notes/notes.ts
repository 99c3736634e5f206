// The notes file: what no log says and a person would tell. It is YAML that begins with `plimsoll_notes: 1`; every key is in
// `surface.ts`, the reference is docs/reference/notes.md.
//
// A notes file with a mistake is not half read: every mistake is told with its place, what was found and what would be right.

import { nearest, explain, formatPath, type Problem, readSource, type Source } from '../../../scenario.ts';
import type { SettingKey } from '../../../record.ts';
import type { WholeFormat } from '../format.ts';
import type { Sink } from '../sink.ts';
import { notesSchema, type NotesSurface } from './surface.ts';
import { allKeys } from './values.ts';

const lengthMax = 1_000_000;

export const notes: WholeFormat = {
  kind: 'whole',
  name: 'Plimsoll notes',
  early: true,
  recognise: (head) => (/^\s*["'{]*\s*["']?plimsoll_notes["']?\s*:/m.test(head) ? 1 : 0),
  read(text, sink) {
    const parsed = parseNotes(text, sink.file);
    const lines = text.split('\n').filter((line) => line.trim() !== '').length;
    if ('problems' in parsed) {
      for (const { line, column, path, message } of parsed.problems) {
        sink.foreign(line, text.split('\n')[line - 1] ?? '');
        sink.remark(`${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`);
      }
      return;
    }
    sink.understood(lines);
    writeNotes(parsed.notes, parsed.source, sink);
  },
};

export type ParsedNotes =
  | { readonly notes: NotesSurface; readonly source: Source }
  | { readonly problems: readonly Problem[] };

/** Reads one notes file, or tells every problem in it, in the order of the file. */
export function parseNotes(text: string, file: string): ParsedNotes {
  if (text.length > lengthMax) {
    const message = `expected at most ${lengthMax} characters, found ${text.length}: notes are what a person writes`;
    return { problems: [{ file, line: 1, column: 1, path: '', message }] };
  }
  const source = readSource(text, file, []);
  if (source.problems.length > 0) return { problems: source.problems };
  const parsed = notesSchema.safeParse(source.value);
  if (parsed.success) {
    const problems = checkCounts(parsed.data, source);
    return problems.length > 0 ? { problems } : { notes: parsed.data, source };
  }
  const problems = parsed.error.issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys' || issue.path.at(-1) !== 'set') return explain([issue], source);
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
    return issue.keys.map((key) => source.atKey([...path, key], unknownSetting(key)));
  });
  return { problems: problems.toSorted((one, other) => one.line - other.line || one.column - other.column) };
}

function unknownSetting(key: string): string {
  const meant = meantSetting(key);
  if (meant !== undefined) return `unknown setting '${key}'. Did you mean ${meant}?`;
  const group = key.split('.')[0] ?? '';
  const siblings = allKeys.filter((one) => one.startsWith(`${group}.`));
  const known =
    siblings.length > 0
      ? `of ${group} there are ${siblings.join(', ')}`
      : `expected one of the groups ${[...new Set(allKeys.map((one) => one.split('.')[0]))].join(', ')}`;
  return `unknown setting '${key}': ${known}`;
}

/** The one that begins like this, else the nearest of the same group, else a slip in the name of the group. */
function meantSetting(key: string): string | undefined {
  const begins = allKeys.filter((one) => one.startsWith(key));
  if (begins.length === 1) return begins[0];
  const dot = key.indexOf('.') + 1;
  const group = key.slice(0, dot);
  const siblings = dot === 0 ? [] : allKeys.filter((one) => one.startsWith(group)).map((one) => one.slice(dot));
  if (siblings.length === 0) return nearest(key, allKeys);
  const near = nearest(key.slice(dot), siblings);
  return near === undefined ? undefined : group + near;
}

/** What is between keys: a count has a value, or values by a label. */
function checkCounts(surface: NotesSurface, source: Source): Problem[] {
  return surface.counts.flatMap((count, index) => {
    const path = ['counts', index];
    if (count.values === undefined && count.value === undefined) {
      return [source.at(path, 'expected value, or by with values')];
    }
    if (count.values !== undefined && count.value !== undefined) {
      return [source.at([...path, 'value'], 'expected either value or values, found both')];
    }
    if ((count.values === undefined) !== (count.by === undefined)) {
      return [source.at(path, 'expected by and values together: by says what the names in values are')];
    }
    return [];
  });
}

function writeNotes(surface: NotesSurface, source: Source, sink: Sink): void {
  const lineOf = (...path: readonly (string | number)[]): number => source.atKey(path, '').line;
  for (const [index, { program, scope, implied, set }] of surface.settings.entries()) {
    for (const key of allKeys) {
      const value = set[key];
      if (value === undefined) continue;
      sink.setting({ program, scope, key, value, implied, line: lineOf('settings', index, 'set', key) });
    }
  }
  for (const [index, { at, event, subject, detail }] of surface.events.entries()) {
    sink.event({
      atMs: at,
      event,
      ...(subject === undefined ? {} : { subject }),
      ...(detail === undefined ? {} : { detail }),
      line: lineOf('events', index),
    });
  }
  for (const [service, endpoints] of Object.entries(surface.registry)) {
    writeRegistry(service, endpoints, lineOf('registry', service), sink);
  }
  writeCounts(surface, lineOf, sink);
  for (const [index, text] of [surface.about ?? '', ...surface.remarks].entries()) {
    const line = index === 0 ? lineOf('about') : lineOf('remarks', index - 1);
    if (text !== '') sink.message({ program: 'notes', atMs: undefined, code: 'remark', text, line });
  }
}

type Endpoint = NotesSurface['registry'][string][number];

function writeRegistry(service: string, endpoints: readonly Endpoint[], line: number, sink: Sink): void {
  const setting = (key: SettingKey, value: number | string): void => {
    sink.setting({ program: 'registry', scope: `service ${service}`, key, value, line });
  };
  setting('upstream.endpoints', endpoints.length);
  if (endpoints.length > 0) setting('upstream.endpoint-list', endpoints.map(({ endpoint }) => endpoint).join());
  const zones = new Map<string, number>();
  for (const one of endpoints) {
    const { endpoint } = one;
    const { name, health, zone, weight } = {
      name: undefined,
      health: undefined,
      zone: undefined,
      weight: undefined,
      ...one,
    };
    const labels = { service, endpoint, ...(zone === undefined ? {} : { zone }) };
    sink.hints.addresses.add(endpoint);
    if (!sink.hints.servers.has(endpoint)) sink.hints.servers.set(endpoint, { service, label: name });
    if (health !== undefined && health !== 'unknown') {
      sink.sample('endpoint_healthy', labels, health === 'healthy' ? 1 : 0, { type: 'gauge', line });
    }
    if (weight !== undefined) sink.sample('endpoint_weight', labels, weight, { type: 'gauge', line });
    if (zone !== undefined) zones.set(zone, (zones.get(zone) ?? 0) + 1);
  }
  if (zones.size > 0) setting('replicas.zone-layout', [...zones].map(([zone, count]) => `${zone}=${count}`).join());
}

/** Entries that repeat name, label and place are readings, one after the other. */
function writeCounts(
  surface: NotesSurface,
  lineOf: (...path: readonly (string | number)[]) => number,
  sink: Sink,
): void {
  const readings: { readonly index: number; readonly reading: number }[] = [];
  const seen = new Map<string, number>();
  for (const [index, { name, by }] of surface.counts.entries()) {
    const id = formatPath([name, by ?? '']);
    const reading = seen.get(id) ?? 0;
    seen.set(id, reading + 1);
    readings.push({ index, reading });
  }
  const most = Math.max(0, ...seen.values());
  for (let reading = 0; reading < most; reading++) {
    if (reading > 0) sink.nextReading();
    for (const { index } of readings.filter((one) => one.reading === reading)) {
      const count = surface.counts[index];
      if (count === undefined) continue;
      const line = lineOf('counts', index);
      const more = { ...(count.type === undefined ? {} : { type: count.type }), atMs: count.at, line };
      if (count.value !== undefined) sink.sample(count.name, {}, count.value, more);
      for (const [name, value] of Object.entries(count.values ?? {})) {
        sink.sample(count.name, { [count.by ?? 'name']: name }, value, more);
      }
    }
  }
}
