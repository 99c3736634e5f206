// Pauses of a garbage collector, in Java's unified log, its older form, Go's `gctrace`, and Node's `--trace-gc`.
//
//   [2026-04-02T07:00:00.120+0000][info][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.512ms
//   2026-04-02T07:00:00.120+0000: 12.3: [GC (Allocation Failure) … 0.0054 secs]
//   gc 14 @0.412s 2%: 0.011+1.2+0.003 ms clock, …
//   [31:0x5581]  9203 ms: Mark-Compact 200.1 (230.0) -> 150.0 (231.0) MB, 812.2 / 0.0 ms …
//
// Series `gc_pause_seconds` with the kind of pause where lines have a time, else samples; a message for each pause of 100 ms or more.

import { type LineFormat, type LineReader, shareOfLines } from '../format.ts';
import { leadingInstant } from '../instants.ts';
import { Points } from '../points.ts';
import type { Sink } from '../sink.ts';

const unified = /^\[([^\]]+)\](?:\[[^\]]*\])*\s*GC\(\d+\) (Pause [A-Z][a-z]+(?: \w+)?)(?:.*?)\s([\d.]+)ms\s*$/;
const unifiedOther = /^\[[^\]]+\](?:\[[^\]]*\])*\s*(?:GC\(\d+\)|Using |CardTable|Heap|Safepoint|Concurrent)/;
const older = /^(\S+?): (?:[\d.]+: )?\[(Full GC|GC)\b.*?, ([\d.]+) secs\]/;
const go = /^gc \d+ @([\d.]+)s \d+%: ([\d.]+)\+[\d.]+\+([\d.]+) ms clock/;
const v8 = /^\[\d+:0x[0-9a-f]+\]\s+\d+ ms: (Scavenge|Mark-[Cc]ompact|Mark-sweep)[^/]*?MB, ([\d.]+) \/ [\d.]+ ms/;
const longSeconds = 0.1;

export const garbageLog: LineFormat = {
  kind: 'lines',
  name: 'garbage collector log',
  recognise(head) {
    const share = shareOfLines(head, (line) => pauseIn(line) !== undefined || unifiedOther.test(line));
    return share > 0 && /^.*(?:Pause |\[(?:Full )?GC|^gc \d+ @| ms: (?:Scavenge|Mark-))/m.test(head)
      ? 0.55 + 0.4 * share
      : 0;
  },
  open: garbageLogReader,
};

interface Pause {
  readonly stamp: string;
  readonly kind: string;
  readonly seconds: number;
}

function pauseIn(line: string): Pause | undefined {
  const java = unified.exec(line);
  if (java !== null) {
    return {
      stamp: java[1] ?? '',
      kind: (java[2] ?? '').replace('Pause ', '').toLowerCase(),
      seconds: Number(java[3]) / 1000,
    };
  }
  const old = older.exec(line);
  if (old !== null) return { stamp: old[1] ?? '', kind: old[2] === 'GC' ? 'young' : 'full', seconds: Number(old[3]) };
  const node = v8.exec(line);
  if (node !== null) {
    return { stamp: '', kind: node[1] === 'Scavenge' ? 'young' : 'full', seconds: Number(node[2]) / 1000 };
  }
  const traced = go.exec(line);
  if (traced === null) return undefined;
  return { stamp: '', kind: 'stop', seconds: (Number(traced[2]) + Number(traced[3])) / 1000 };
}

function garbageLogReader(sink: Sink): LineReader {
  const points = new Points();
  let row = 0;
  return {
    line(text, number) {
      const pause = pauseIn(text);
      if (pause === undefined) return unifiedOther.test(text);
      row += 1;
      const atMs = leadingInstant(pause.stamp)?.ms;
      if (atMs !== undefined) points.add('gc_pause_seconds', { kind: pause.kind }, atMs, pause.seconds);
      else sink.sample('gc_pause_seconds', { kind: pause.kind, row: String(row) }, pause.seconds, { line: number });
      if (pause.seconds >= longSeconds) {
        sink.message({
          program: 'garbage-collector',
          atMs,
          code: 'garbage-collection',
          subject: pause.kind,
          text,
          line: number,
        });
      }
      return true;
    },
    end: () => points.write(sink),
  };
}
