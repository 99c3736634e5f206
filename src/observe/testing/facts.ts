// Facts as text, so that a test of a reader is two texts: what a program wrote, and what it means.

import assert from 'node:assert/strict';
import type { Dossier, RequestTable } from '../../record.ts';
import { readDossier } from '../dossier.ts';

/** The dossier of one text; it must be recognised. The name says nothing, so that only the content can. */
export function dossierOf(text: string, name = 'file'): Dossier {
  const { dossier, problems } = readDossier([{ name, text }]);
  assert.equal(dossier.sources.length, 1, problems.join('\n'));
  return dossier;
}

/** Settings, one a line: `[scope] key = value`, with `(implied)` where nobody wrote it and the line where somebody did. */
export function settingLines(dossier: Dossier): string[] {
  return dossier.settings.map(
    ({ scope, key, value, implied, origin }) =>
      `[${scope}] ${key} = ${value}${implied ? ' (implied)' : ` :${origin.line ?? '?'}`}`,
  );
}

/** Requests, one a line, only with what the log said. */
export function requestLines(dossier: Dossier): string[] {
  return dossier.requests.flatMap((table) => Array.from({ length: table.count }, (_, row) => requestLine(table, row)));
}

function requestLine(table: RequestTable, row: number): string {
  const at = table.startMs[row] ?? Number.NaN;
  const number = (name: string, value: number | undefined): string[] =>
    value === undefined || Number.isNaN(value) ? [] : [`${name}=${Number(value.toFixed(6))}`];
  const count = (name: string, value: number | undefined): string[] =>
    value === undefined || value < 0 ? [] : [`${name}=${value}`];
  const text = (name: string, texts: readonly string[], index: number | undefined): string[] =>
    index === undefined || index < 0 ? [] : [`${name}=${texts[index] ?? ''}`];
  return [
    Number.isNaN(at) ? '-' : new Date(at).toISOString().slice(11, 23),
    ...text('route', table.routes, table.route[row]).map((word) => word.slice(6)),
    ...count('status', table.status[row]),
    ...number('seconds', table.seconds[row]),
    ...number('upstream', table.upstreamSeconds[row]),
    ...number('queue', table.queueSeconds[row]),
    ...number('connect', table.connectSeconds[row]),
    ...count('answered', table.upstreamStatus[row]),
    ...count('tries', table.attempts[row]),
    ...text('by', table.replicas, table.replica[row]),
    ...text('for', table.clients, table.client[row]),
    ...text('flag', table.flags, table.flag[row]),
    ...text('service', table.services, table.service[row]),
    ...text('worker', table.workers, table.worker[row]),
  ].join(' ');
}

/** Samples, one a line: `name{label=value} number`, with the reading when it is not the first. */
export function sampleLines(dossier: Dossier): string[] {
  return dossier.samples.map(({ name, labels, value, type, reading }) => {
    const inside = Object.entries(labels).map(([key, text]) => `${key}=${text}`);
    const sign = type === 'counter' ? '+' : '';
    return `${name}${inside.length === 0 ? '' : `{${inside.join()}}`} ${sign}${value}${reading === 0 ? '' : ` #${reading}`}`;
  });
}

/** Messages, one a line: time, code, subject. */
export function messageLines(dossier: Dossier): string[] {
  return dossier.messages.map(({ atMs, code, subject }) =>
    [timeOf(atMs), code, ...(subject === undefined ? [] : [subject])].join(' '),
  );
}

/** Events, one a line: time, event, subject, detail. */
export function eventLines(dossier: Dossier): string[] {
  return dossier.events.map(({ atMs, event, subject, detail }) =>
    [
      timeOf(atMs),
      event,
      ...(subject === undefined ? [] : [subject]),
      ...(detail === undefined ? [] : [`(${detail})`]),
    ].join(' '),
  );
}

/** Series, one a line. */
export function seriesLines(dossier: Dossier): string[] {
  return dossier.series.map(({ name, labels, atMs, values }) => {
    const inside = Object.entries(labels).map(([key, text]) => `${key}=${text}`);
    return `${name}${inside.length === 0 ? '' : `{${inside.join()}}`} ${timeOf(atMs[0])} ${values.join(' ')}`;
  });
}

function timeOf(atMs: number | undefined): string {
  return atMs === undefined || Number.isNaN(atMs) ? '-' : new Date(atMs).toISOString().slice(11, 23);
}

/** The lines of an expectation: without indentation and empty lines. */
export function expected(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
