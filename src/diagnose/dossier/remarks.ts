// What a person must know of evidence before believing a verdict on it: files from different days, files of systems that have
// nothing to do with each other. A verdict may still be right; it may also be about only one of them.

import type { Dossier } from '../../record.ts';
import { listed } from '../wording.ts';

/** A sentence each. */
export function dossierRemarks(dossier: Dossier): string[] {
  return [...apartInTime(dossier), ...unrelated(dossier)];
}

interface Span {
  readonly file: string;
  readonly from: number;
  readonly to: number;
}

/** Logs that lie hours apart: nothing in one can be the cause of anything in the other. */
function apartInTime(dossier: Dossier): string[] {
  const spans = spansOf(dossier).toSorted((one, other) => one.from - other.from);
  const groups: { files: string[]; to: number; from: number }[] = [];
  for (const span of spans) {
    const last = groups.at(-1);
    if (last === undefined || span.from > last.to + gapOf(last)) {
      groups.push({ files: [span.file], from: span.from, to: span.to });
    } else {
      last.files.push(span.file);
      last.to = Math.max(last.to, span.to);
    }
  }
  const [first] = groups;
  const last = groups.at(-1);
  if (first === undefined || last === undefined || first === last) return [];
  return [
    `times that do not meet: ${listed(first.files)} until ${instant(first.to)}, ${listed(last.files)} from ${instant(last.from)} on; nothing in one explains the other, unless a clock is wrong`,
  ];
}

/** Runs of one test stand apart as well; an hour, or ten times their own length, is no run of the same. */
function gapOf({ from, to }: { from: number; to: number }): number {
  return Math.max(3_600_000 * 6, 10 * (to - from));
}

function spansOf(dossier: Dossier): Span[] {
  const spans = new Map<string, { from: number; to: number }>();
  const meet = (file: string, at: number | undefined): void => {
    if (at === undefined || !Number.isFinite(at) || at < 1e11) return;
    const span = spans.get(file) ?? { from: at, to: at };
    spans.set(file, { from: Math.min(span.from, at), to: Math.max(span.to, at) });
  };
  for (const table of dossier.requests) {
    for (const at of table.startMs) meet(table.origin.file, at);
  }
  for (const series of dossier.series) {
    meet(series.origin.file, series.atMs[0]);
    meet(series.origin.file, series.atMs.at(-1));
  }
  for (const { atMs, origin } of [...dossier.messages, ...dossier.events]) meet(origin.file, atMs);
  return [...spans].map(([file, span]) => ({ file, ...span }));
}

/** Two logs of balancers whose replicas, services and routes have nothing in common. */
function unrelated(dossier: Dossier): string[] {
  const tables = dossier.requests.filter(({ replicas, count }) => replicas.length > 0 && count >= 10);
  for (const [index, one] of tables.entries()) {
    for (const other of tables.slice(index + 1)) {
      const names = new Set([...one.replicas, ...one.services, ...one.routes, ...one.clients].map(bare));
      const shared = [...other.replicas, ...other.services, ...other.routes, ...other.clients].some((name) =>
        names.has(bare(name)),
      );
      if (shared || one.origin.file === other.origin.file) continue;
      return [
        `${one.origin.file} and ${other.origin.file} share no replica, service, route or client: they may be of different systems, and a verdict is then about one of them`,
      ];
    }
  }
  return [];
}

function bare(name: string): string {
  return name.replace(/:\d+$/, '');
}

function instant(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
