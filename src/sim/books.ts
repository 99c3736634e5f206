// Where the end of every request is entered: for its group and for the replica that had it, once for the present second and once
// more when it came due in the judged part. What a replica never saw (the gate answered in its stead) is entered for the group alone.
//
// Hot: `answered`.

import type { Group } from './group.ts';
import { grownInts } from './grown.ts';
import { ReplicaTally } from './tally.ts';

/** In a larger fleet replicas have only counts: nobody reads the latencies of ten thousand of them. */
const latencyStationsMax = 512;

/** Hears the end of every request that is entered: who asked, the station (−1: none, or nobody knows), `ok` or what went wrong, when
 * it came due and when it ended. */
export type EndListener = (group: string, station: number, kind: string, dueAt: number, now: number) => void;

export class Books {
  /** For whoever writes an access log of what is imagined. Undefined costs nothing. */
  listener: EndListener | undefined;
  /** Whole answers in the present second, by station. */
  finished = new Int32Array(0);
  /** What else clients saw, by station, in the present second and in the judged part of the phase. Undefined where there is nothing
   * to tell. */
  readonly recent: (ReplicaTally | undefined)[] = [];
  readonly measured: (ReplicaTally | undefined)[] = [];
  readonly #brief: boolean;
  #withLatency = true;

  /** `brief`: without latencies of stations, however few they are. */
  constructor(brief = false) {
    this.#brief = brief;
  }

  /** There are so many stations now. */
  grow(stations: number): void {
    this.finished = grownInts(this.finished, stations);
    this.#withLatency = !this.#brief && stations <= latencyStationsMax;
    while (this.recent.length < stations) {
      this.recent.push(this.#withLatency ? new ReplicaTally(true) : undefined);
      this.measured.push(this.#withLatency ? new ReplicaTally(true) : undefined);
    }
  }

  /** A phase begins. */
  clear(): void {
    this.finished.fill(0);
    for (const tally of [...this.recent, ...this.measured]) tally?.clear();
  }

  /** The next second begins. */
  clearRecent(station: number): void {
    this.finished[station] = 0;
    this.recent[station]?.clear();
  }

  /** A whole answer from a station, good or not. */
  answered(group: Group, station: number, ok: boolean, dueAt: number, now: number): void {
    this.listener?.(group.name, station, ok ? 'ok' : 'status-5xx', dueAt, now);
    const latency = now - dueAt;
    const isMeasured = group.isMeasured(dueAt);
    group.recent.answer(ok, latency);
    if (isMeasured) group.measured.answer(ok, latency);
    if (ok) group.answered(station);
    this.finished[station] = (this.finished[station] ?? 0) + 1;
    if (ok && !this.#withLatency) return;
    this.#tally(this.recent, station)?.answer(ok, latency);
    if (isMeasured) this.#tally(this.measured, station)?.answer(ok, latency);
  }

  /** The gate's own answer, 502 to 504. */
  answeredByGate(group: Group, kind: string, dueAt: number, now: number): void {
    this.listener?.(group.name, -1, kind, dueAt, now);
    group.gate.failed(kind);
    group.recent.answer(false, now - dueAt);
    if (group.isMeasured(dueAt)) group.measured.answer(false, now - dueAt);
  }

  /** No answer at all: the connection was refused or broke. */
  unanswered(group: Group, station: number, kind: string, dueAt: number, now: number): void {
    this.listener?.(group.name, station, kind, dueAt, now);
    group.recent.failure(kind);
    this.#tally(this.recent, station)?.failure(kind);
    if (!group.isMeasured(dueAt)) return;
    group.measured.failure(kind);
    this.#tally(this.measured, station)?.failure(kind);
  }

  /** The client's patience is over. `station`: −1 where it does not know who had its request. */
  timedOut(group: Group, station: number, dueAt: number, now: number): void {
    this.listener?.(group.name, station, 'timeout', dueAt, now);
    const age = now - dueAt;
    group.recent.timeout(age);
    this.#tally(this.recent, station)?.failure('timeout');
    this.recent[station]?.unfinished(age);
    if (!group.isMeasured(dueAt)) return;
    group.measured.timeout(age);
    this.#tally(this.measured, station)?.failure('timeout');
    this.measured[station]?.unfinished(age);
  }

  /** The phase is over and the request is not. */
  leftInFlight(group: Group, station: number, dueAt: number, now: number): void {
    if (!group.isMeasured(dueAt)) return;
    group.measured.leftInFlight(now - dueAt);
    this.measured[station]?.unfinished(now - dueAt);
  }

  /** Where something that went wrong at a station is entered; undefined when nobody knows which it was. */
  #tally(tallies: (ReplicaTally | undefined)[], station: number): ReplicaTally | undefined {
    if (station < 0) return undefined;
    return (tallies[station] ??= new ReplicaTally(this.#withLatency));
  }
}
