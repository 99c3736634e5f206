// Open demand: requests come due by the clock, whatever the answers do. A request takes an idle connection, or a new one, or
// waits its turn when the group has as many as it may; the wait is part of its latency.
//
//   due ─► idle connection ──────────────────────► sent
//     ├──► new connection, while below the cap ──► sent when it opens
//     ├──► waiting room ── a connection is free ─► sent
//     └──► waiting room full ────────────────────► refused
//
// The timeout runs while a request waits. It is hardly ever the waiting room that lets one time out, though: connections are taken
// in order of due time, so by then everybody who came before has ended and the request has the connection of one of them. Only who
// is asked again may stand before somebody a little older, by as much as this generator is late.
//
// Due times come from the pace and stay exact although timers are late: what is late is sent at once, and the lag says by how
// much. After a stall of ours everything that was missed is sent, so many a turn. That is what "open" means: a generator that
// skips what it missed hides the stall (coordinated omission).
//
// The connection that has been idle longest is taken first. All connections then carry equal shares, evenly spaced, and a
// layer-4 balancer that spread the connections gets the requests spread alike; taking the latest used would pin the load to
// a few of them.

import { after, assert, type Instant, instantAt, Ring } from '../base.ts';
import type { Alarm, Engine } from '../net.ts';
import type { Pacer } from '../scenario.ts';
import type { Carrier } from './carrier.ts';
import type { Dispatch, Source } from './dispatch.ts';
import type { FirstOf } from './lives.ts';

export interface ArrivalLimits {
  /** Opened before the first request is due. */
  readonly connectionsMin: number;
  /** Open at once, at most; shared out evenly between several targets. */
  readonly connectionsMax: number;
  /** Requests that may wait for a connection to one target. */
  readonly waitingMax: number;
}

/** Requests made due in one turn of the loop, at most: answers must get their turn too. */
const perTurn = 1000;

interface Lane {
  readonly idle: Ring<Carrier>;
  /** Slots of requests that wait for a connection, oldest first. Made when the first one waits. */
  waiting: Ring<number> | undefined;
  connections: number;
}

export class Arrivals implements Source {
  readonly #pacer: Pacer;
  readonly #dispatch: Dispatch;
  readonly #engine: Engine;
  readonly #limits: ArrivalLimits;
  /** By target. */
  readonly #lanes: readonly Lane[];
  readonly #laneMax: number;
  /** By slot: the step that the request is of. */
  readonly #steps: number[] = [];
  #nextStep = 0;
  /** Requests asked of the pacer. */
  #count = 0;
  #begun: Instant | undefined;
  /** When the next request is due: Infinity when none is. */
  #nextDue: number = Infinity;
  #alarm: Alarm | undefined;
  #alarmAt: number = Infinity;
  #ended = false;
  #waited = 0;
  #waitingMost = 0;
  #refused = 0;

  constructor(pacer: Pacer, limits: ArrivalLimits, dispatch: Dispatch, engine: Engine) {
    this.#pacer = pacer;
    this.#dispatch = dispatch;
    this.#engine = engine;
    this.#limits = limits;
    const laneMax = Math.max(1, Math.floor(limits.connectionsMax / dispatch.targets));
    this.#laneMax = laneMax;
    this.#lanes = Array.from({ length: dispatch.targets }, () => ({
      idle: new Ring<Carrier>(laneMax),
      waiting: undefined,
      connections: 0,
    }));
  }

  /** Requests that had to wait for a connection, how many did so at once at most, and how many found no room to wait. */
  get waits(): { readonly waited: number; readonly waitingMost: number; readonly refused: number } {
    return { waited: this.#waited, waitingMost: this.#waitingMost, refused: this.#refused };
  }

  begin(now: Instant): void {
    this.#begun = now;
    const perLane = Math.min(this.#laneMax, Math.ceil(this.#limits.connectionsMin / this.#lanes.length));
    this.#lanes.forEach((lane, target) => {
      // Idle from the beginning: a connection that is still opening can take a request.
      for (let place = 0; place < perLane; place++) keepIdle(lane, this.#open(lane, target, { place, of: perLane }));
    });
    this.#advance();
    this.#pump(now);
  }

  opened(): void {}

  freed(connection: Carrier, now: Instant): void {
    const lane = this.#laneOf(connection.target);
    if (connection.state === 'closed') {
      lane.connections -= 1;
      this.#replace(lane, connection.target, now);
    } else {
      const slot = lane.waiting?.shift();
      if (slot === undefined) keepIdle(lane, connection);
      else this.#send(slot, connection, now);
    }
    // Answers wake us more often than the alarm does: a due request need not wait for it.
    if (this.#nextDue <= now) this.#pump(now);
  }

  ended(): void {}

  again(slot: number, now: Instant): void {
    this.#ask(slot, now);
  }

  withdraw(slot: number): number {
    const target = this.#lanes.findIndex(({ waiting }) => waiting?.remove(slot) === true);
    assert(target >= 0, 'a request without a connection waits for one');
    return target;
  }

  lostIdle(connection: Carrier, now: Instant): void {
    const lane = this.#laneOf(connection.target);
    lane.connections -= 1;
    this.#replace(lane, connection.target, now);
  }

  end(now: Instant): void {
    // What is due by now is sent yet: it would only show that our alarm is late. More than a turn's worth is a backlog.
    this.#pump(now);
    this.#ended = true;
    this.#alarm?.cancel();
    for (const lane of this.#lanes) {
      for (;;) {
        const slot = lane.waiting?.shift();
        if (slot === undefined) break;
        this.#dispatch.leave(slot, now);
      }
    }
    while (this.#nextDue <= now) {
      this.#dispatch.leave(this.#dispatch.due(instantAt(this.#nextDue), now), now);
      this.#advance();
    }
  }

  readonly #ring = (now: Instant): void => {
    this.#alarm = undefined;
    this.#alarmAt = Infinity;
    this.#pump(now);
  };

  /** Makes everything due that is due by `now`. */
  #pump(now: Instant): void {
    if (this.#ended) return;
    for (let count = 0; count < perTurn && this.#nextDue <= now; count++) {
      this.#arrive(instantAt(this.#nextDue), now);
      this.#advance();
    }
    this.#arm(Math.max(this.#nextDue, now));
  }

  #arm(at: number): void {
    if (at === Infinity || this.#alarmAt <= at) return;
    this.#alarm?.cancel();
    this.#alarmAt = at;
    this.#alarm = this.#engine.alarm(instantAt(at), this.#ring);
  }

  #advance(): void {
    assert(this.#begun !== undefined, 'requests come due after the beginning');
    const due = this.#pacer.due(this.#count);
    this.#count += 1;
    this.#nextDue = due === undefined ? Infinity : after(this.#begun, due);
  }

  #arrive(due: Instant, now: Instant): void {
    const slot = this.#dispatch.due(due, now);
    const step = this.#nextStep;
    this.#nextStep = step + 1 === this.#dispatch.steps ? 0 : step + 1;
    this.#steps[slot] = step;
    this.#ask(slot, now);
  }

  /** For the first time or again. */
  #ask(slot: number, now: Instant): void {
    const target = this.#dispatch.pick(now);
    const lane = this.#laneOf(target);
    const connection =
      this.#idleOf(lane, now) ?? (lane.connections < this.#laneMax ? this.#open(lane, target) : undefined);
    if (connection === undefined) this.#wait(slot, lane, now);
    else this.#send(slot, connection, now);
  }

  #wait(slot: number, lane: Lane, now: Instant): void {
    if (this.#limits.waitingMax > 0) lane.waiting ??= new Ring<number>(this.#limits.waitingMax);
    if (lane.waiting?.push(slot) !== true) {
      this.#refused += 1;
      this.#dispatch.refuse(slot, now);
      return;
    }
    this.#waited += 1;
    this.#waitingMost = Math.max(this.#waitingMost, lane.waiting.size);
  }

  #send(slot: number, connection: Carrier, now: Instant): void {
    this.#dispatch.assign(slot, connection, this.#dispatch.ready(connection.target, this.#steps[slot] ?? 0), now);
  }

  #open(lane: Lane, target: number, first?: FirstOf): Carrier {
    lane.connections += 1;
    return this.#dispatch.connect(target, -1, first);
  }

  /** The connection that has been idle longest. Those that closed while idle are passed over, those that are spent closed. */
  #idleOf(lane: Lane, now: Instant): Carrier | undefined {
    for (;;) {
      const connection = lane.idle.shift();
      if (connection === undefined) return undefined;
      if (connection.state === 'closed' || connection.busy) continue;
      if (!this.#dispatch.isSpent(connection, now)) return connection;
      this.#dispatch.retire(connection);
      lane.connections -= 1;
    }
  }

  /** A connection is gone: whoever waits longest may open another. */
  #replace(lane: Lane, target: number, now: Instant): void {
    const slot = lane.waiting?.shift();
    if (slot !== undefined) this.#send(slot, this.#open(lane, target), now);
  }

  #laneOf(target: number): Lane {
    const lane = this.#lanes[target];
    assert(lane !== undefined, 'every target has a lane');
    return lane;
  }
}

/** There is always room: a new connection is opened only when the ring is empty, so that it never holds more than the cap,
 * those included that closed meanwhile and were not passed over yet. */
function keepIdle(lane: Lane, connection: Carrier): void {
  const kept = lane.idle.push(connection);
  assert(kept, 'an idle connection has its place');
}
