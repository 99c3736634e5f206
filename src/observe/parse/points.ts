// Numbers at instants, gathered line by line, until they can be written as series: one for each name with its labels, in the
// order in which they were first met.
//
// The bound: so many points of all series together. What comes later is not kept, and the person is told.

import type { Sink } from './sink.ts';

const pointsMax = 2_000_000;

export type Labels = Readonly<Record<string, string>>;

interface Gathered {
  readonly name: string;
  readonly labels: Labels;
  readonly points: { atMs: number; value: number }[];
}

export class Points {
  readonly #series = new Map<string, Gathered>();
  #count = 0;

  add(name: string, labels: Labels, atMs: number, value: number): void {
    if (this.#count >= pointsMax) return;
    this.#count += 1;
    const id = `${name} ${JSON.stringify(labels)}`;
    const known = this.#series.get(id);
    if (known !== undefined) known.points.push({ atMs, value });
    else this.#series.set(id, { name, labels, points: [{ atMs, value }] });
  }

  /** Hands all of it to the sink. */
  write(sink: Sink): void {
    for (const { name, labels, points } of this.#series.values()) sink.series(name, labels, points);
    if (this.#count >= pointsMax) sink.remark(`more than ${pointsMax} numbers: those after them are left out`);
  }
}
