// Garbage collections: each replica of a service that has them stands still again and again, in a rhythm of its own. One event a replica
// waits in the calendar: the beginning of its next pause, or the end of the present one.
//
//   runs ── every ──┤ length ├── every ──────┤ length ├──
//
// Before the first a replica runs for a part of `every`, drawn evenly: or constant pauses would come over the whole fleet at once.

import { assert, DiceBank } from '../base.ts';
import { type GcPauses as Settings, sampler } from '../scenario.ts';
import type { Station } from './station.ts';

export interface GcPausesDuties {
  readonly seed: number;
  /** `pass` wants to be called for this station then. */
  schedule(at: number, station: number): void;
}

interface Rhythm {
  readonly station: Station;
  readonly stream: number;
  readonly every: () => number;
  readonly length: () => number;
  /** Of the present pause; undefined while it runs. */
  pause: number | undefined;
}

export class GcPauses {
  readonly #duties: GcPausesDuties;
  readonly #streams = new DiceBank();
  /** By the station's number. */
  readonly #rhythms = new Map<number, Rhythm>();

  constructor(duties: GcPausesDuties) {
    this.#duties = duties;
  }

  /** The station runs from now on. */
  begin(station: Station, { every, length }: Settings, now: number): void {
    const stream = this.#streams.add(this.#duties.seed, `gc/${station.id}`);
    const { dice } = this.#streams;
    const rhythm = {
      station,
      stream,
      every: sampler(every, dice),
      length: sampler(length, dice),
      pause: undefined,
    };
    this.#rhythms.set(station.index, rhythm);
    this.#streams.at(stream);
    this.#runFor(rhythm, Math.ceil(rhythm.every() * dice.next()), now);
  }

  /** The station's event has come. A process that is dead collects nothing. */
  pass(index: number, now: number): void {
    const rhythm = this.#rhythms.get(index);
    assert(rhythm !== undefined, 'who pauses has a rhythm');
    const { station, stream, pause } = rhythm;
    this.#streams.at(stream);
    if (pause !== undefined) {
      rhythm.pause = undefined;
      station.endCollection(pause, now);
    } else if (!station.down) {
      const length = rhythm.length();
      rhythm.pause = length;
      station.collect(now);
      this.#duties.schedule(now + length, index);
      return;
    }
    this.#runFor(rhythm, rhythm.every(), now);
  }

  #runFor({ station }: Rhythm, length: number, now: number): void {
    this.#duties.schedule(now + length, station.index);
  }
}
