// Closed demand: so many users, each waiting for its answer before it goes on. A user walks the flow step by step, again and
// again, on connections of its own that it keeps; after each answer it thinks, and the next request is due when it has
// thought. A slow answer therefore slows the demand: that feedback is what a closed loop is.
//
//   user   ──ask──► … answer ── think ──► due ──ask──► …
//
// A user who could not reach anybody rests before trying again: users at a closed door would otherwise knock as fast as the
// machine can, and their failures would drown everything else.
//
// Users with a think time start spread over it, so that they do not march in step; without one, all start at once.

import { after, type Duration, Heap, type Instant, instantAt, ms, ns } from '../base.ts';
import type { Alarm, Engine } from '../net.ts';
import type { ClosedDemand } from '../scenario.ts';
import type { Connection } from './connection.ts';
import type { Dispatch, Ending, Source } from './dispatch.ts';

/** Least pause after a connection that could not be opened. */
const restAfterUnreachable = ms(100);

export class Users implements Source {
  readonly #demand: ClosedDemand;
  readonly #dispatch: Dispatch;
  readonly #engine: Engine;
  /** By user: the step that it takes next. */
  readonly #steps: Int32Array;
  /** By user and target. */
  readonly #connections: (Connection | undefined)[];
  /** Who is due when. */
  readonly #thinking = new Heap<number>();
  #alarm: Alarm | undefined;
  #alarmAt: number = Infinity;
  #ended = false;

  constructor(demand: ClosedDemand, dispatch: Dispatch, engine: Engine) {
    this.#demand = demand;
    this.#dispatch = dispatch;
    this.#engine = engine;
    this.#steps = new Int32Array(demand.users);
    this.#connections = Array.from({ length: demand.users * dispatch.targets }, () => undefined);
  }

  begin(now: Instant): void {
    const { users, think } = this.#demand;
    for (let user = 0; user < users; user++) this.#dueAfter(ns((think * user) / users), user, now);
  }

  opened(): void {}

  ended(connection: Connection, ending: Ending, now: Instant): void {
    if (connection.state === 'closed') this.#connections[this.#place(connection)] = undefined;
    if (this.#ended) return;
    const pause =
      ending === 'unreachable' ? ns(Math.max(this.#demand.think, restAfterUnreachable)) : this.#demand.think;
    this.#dueAfter(pause, connection.user, now);
  }

  lostIdle(connection: Connection): void {
    this.#connections[this.#place(connection)] = undefined;
  }

  end(): void {
    this.#ended = true;
    this.#alarm?.cancel();
    this.#thinking.clear();
  }

  #dueAfter(pause: Duration, user: number, now: Instant): void {
    if (pause === 0) {
      this.#ask(user, now, now);
      return;
    }
    const due = after(now, pause);
    this.#thinking.push(due, user);
    if (due < this.#alarmAt) this.#arm(due);
  }

  #ask(user: number, due: Instant, now: Instant): void {
    const slot = this.#dispatch.due(due, now);
    const target = this.#dispatch.pick(now);
    const place = user * this.#dispatch.targets + target;
    const connection = (this.#connections[place] ??= this.#dispatch.connect(target, user));
    const step = this.#steps[user] ?? 0;
    this.#steps[user] = step + 1 === this.#dispatch.steps ? 0 : step + 1;
    this.#dispatch.assign(slot, step, connection, now);
  }

  #arm(at: Instant): void {
    this.#alarm?.cancel();
    this.#alarmAt = at;
    this.#alarm = this.#engine.alarm(at, this.#wake);
  }

  readonly #wake = (now: Instant): void => {
    this.#alarmAt = Infinity;
    for (;;) {
      const due = this.#thinking.nextKey;
      if (due === undefined) return;
      if (due > now) {
        this.#arm(instantAt(due));
        return;
      }
      const user = this.#thinking.pop();
      if (user !== undefined) this.#ask(user, instantAt(due), now);
    }
  };

  #place(connection: Connection): number {
    return connection.user * this.#dispatch.targets + connection.target;
  }
}
