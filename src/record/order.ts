// In which order lines may come, for whoever writes and whoever reads:
//
//              header            topology             phase                         end
//     nothing ───────► begun ───────────► described ───────► under way ─┐ ─────────────────► ended
//                        journal, event     journal, event      ▲ phase, event, tick, histogram,
//                        verdict, end       verdict, end        └────── ledger, journal, verdict
//
// Times need not rise from line to line: a tick is written when its second is over, after the events that fell into it.

import type { RecordLine } from './lines.ts';

export class LineOrder {
  #state: 'nothing' | 'begun' | 'described' | 'ended' = 'nothing';
  readonly #phases = new Set<string>();
  #hasVerdict = false;

  /** Takes the next line, or says in a sentence why it cannot come here (and stays as it was). */
  accept(line: RecordLine): string | undefined {
    const problem = this.#problemOf(line);
    if (problem !== undefined) return problem;
    if (line.kind === 'header') this.#state = 'begun';
    if (line.kind === 'topology') this.#state = 'described';
    if (line.kind === 'phase') this.#phases.add(line.name);
    if (line.kind === 'verdict') this.#hasVerdict = true;
    if (line.kind === 'end') this.#state = 'ended';
    return undefined;
  }

  #problemOf(line: RecordLine): string | undefined {
    if (this.#state === 'ended') return `nothing comes after the end, but a ${line.kind} line does`;
    if (this.#state === 'nothing' && line.kind !== 'header')
      return `the first line is the header, not a ${line.kind} line`;
    switch (line.kind) {
      case 'header':
        return this.#state === 'nothing' ? undefined : 'there is one header, on the first line';
      case 'topology':
        return this.#state === 'begun' ? undefined : 'there is one topology line, before the first phase';
      case 'phase':
        if (this.#state !== 'described') return 'the topology line comes before the first phase';
        return this.#phases.has(line.name) ? `there are two phases called "${line.name}"` : undefined;
      case 'tick':
      case 'histogram':
      case 'ledger':
        return this.#phases.has(line.phase) ? undefined : `no phase called "${line.phase}" has begun`;
      case 'verdict':
        return this.#hasVerdict ? 'there is one verdict line' : undefined;
      case 'event':
      case 'journal':
      case 'end':
        return undefined;
    }
  }
}
