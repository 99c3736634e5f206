// Closed demand: so many users, each waiting for its answer before it goes on. A user walks the flow step by step, again and
// again, on connections of its own that it keeps; after each answer it thinks, and the next request is due when it has
// thought. A slow answer therefore slows the demand: that feedback is what a closed loop is.
//
//   user   ──ask──► … answer ── think ──► [rendezvous] ── due ──ask──► … answer ── think, pacing ──► first step again
//
// A user who could not reach anybody rests before trying again: users at a closed door would otherwise knock as fast as the
// machine can, and their failures would drown everything else. A step that fails does not end the flow, unless the next one
// needs a variable that it should have given: then the user begins anew.
//
// Users who always think for the same time start spread over it, so that they do not march in step; with a distribution each
// starts after a thought of its own, and without thought all start at once. Thoughts are drawn from one stream for all users here.

import { after, assert, dice, type Duration, type Instant, ms, ns } from '../base.ts';
import type { Engine } from '../net.ts';
import { type ClosedDemand, sampler } from '../scenario.ts';
import type { Carrier } from './carrier.ts';
import type { LoadTarget } from './contract.ts';
import type { Dispatch, Ending, Source } from './dispatch.ts';
import { RendezvousPoint } from './rendezvous-point.ts';
import { type LiveStep, liveSteps, Session } from './session.ts';
import type { Share } from './share.ts';
import { UserConnections } from './user-connections.ts';
import { WakeList } from './wake-list.ts';

/** Least pause after a connection that could not be opened, or a step that could not be put together. */
const restAfterFutile = ms(100);

export class Users implements Source {
  readonly #demand: ClosedDemand;
  readonly #dispatch: Dispatch;
  readonly #share: Share;
  readonly #targets: readonly LoadTarget[];
  /** By user: the step that it takes next. */
  readonly #steps: Int32Array;
  /** By user: when it began its flow last, and how often it has. */
  readonly #begun: Float64Array;
  readonly #iterations: Int32Array;
  readonly #connections: UserConnections;
  /** Undefined for a flow that is the same each time. */
  readonly #live: readonly LiveStep[] | undefined;
  /** By user, where the flow is live. */
  readonly #sessions: readonly Session[];
  /** By step. */
  readonly #rendezvous: readonly (RendezvousPoint | undefined)[];
  /** Whose request it is, by slot. */
  readonly #askers: number[] = [];
  readonly #thinking: WakeList;
  /** How long a user thinks after an answer, in general and by step. */
  readonly #draw: () => Duration;
  readonly #draws: readonly (() => Duration)[];
  #ended = false;

  /** `share`: which of all users these are, for their numbers. `seed` is the demand's. */
  constructor(demand: ClosedDemand, dispatch: Dispatch, engine: Engine, share: Share, seed: number) {
    this.#demand = demand;
    this.#dispatch = dispatch;
    this.#share = share;
    this.#thinking = new WakeList(engine, (user, due, now) => this.#arrive(user, due, now));
    const chance = dice(seed, `thoughts/${share.index}`);
    this.#draw = sampler(demand.think, chance);
    this.#draws = demand.flow.map(({ think }) => (think === undefined ? this.#draw : sampler(think, chance)));
    this.#targets = dispatch.group.targets;
    this.#steps = new Int32Array(demand.users);
    this.#begun = new Float64Array(demand.users);
    this.#iterations = new Int32Array(demand.users);
    this.#connections = new UserConnections(demand.users, dispatch, share);
    const cookies = demand.cookies === true;
    this.#live = liveSteps(demand.flow, cookies);
    const sessions = this.#live === undefined ? 0 : demand.users;
    this.#sessions = Array.from({ length: sessions }, (_, user) => new Session(user * share.of + share.index, cookies));
    this.#rendezvous = demand.flow.map(({ rendezvous }) =>
      rendezvous === undefined ? undefined : new RendezvousPoint(rendezvous, engine, this.#ask),
    );
  }

  begin(now: Instant): void {
    const { users, think } = this.#demand;
    const { index, of } = this.#share;
    for (let user = 0; user < users; user++) {
      const pause = think.kind === 'constant' ? (think.value * (user * of + index)) / (users * of) : this.#draw();
      this.#dueAfter(ns(pause), user, now);
    }
  }

  opened(): void {}

  freed(connection: Carrier): void {
    if (connection.state === 'closed') this.#connections.forget(connection);
  }

  ended(user: number, ending: Ending, now: Instant): void {
    if (this.#ended) return;
    const pause = this.#pauseAfter(user, now);
    this.#dueAfter(ending === 'unreachable' ? longer(pause, restAfterFutile) : pause, user, now);
  }

  again(slot: number, now: Instant): void {
    const user = this.#askers[slot];
    assert(user !== undefined, 'a request that is asked again was asked by somebody');
    this.#send(slot, user, this.#stepTaken(user), now);
  }

  withdraw(): number {
    assert(false, 'no request of a user waits for a connection');
  }

  lostIdle(connection: Carrier): void {
    this.#connections.forget(connection);
  }

  end(): void {
    this.#ended = true;
    this.#thinking.clear();
    for (const point of this.#rendezvous) point?.close();
  }

  /** From the end of the step that the user has just taken to its next one: thought, and what is left of the pacing. */
  #pauseAfter(user: number, now: Instant): Duration {
    const think = this.#draws[this.#stepTaken(user)]?.() ?? ns(0);
    const { pacing } = this.#demand;
    if (pacing === undefined || this.#steps[user] !== 0) return think;
    return longer(think, ns((this.#begun[user] ?? 0) + pacing - now));
  }

  #dueAfter(pause: Duration, user: number, now: Instant): void {
    if (pause === 0) {
      this.#arrive(user, now, now);
      return;
    }
    this.#thinking.add(after(now, pause), user);
  }

  /** The step that the user has asked for last. */
  #stepTaken(user: number): number {
    const next = this.#steps[user] ?? 0;
    return next === 0 ? this.#dispatch.steps - 1 : next - 1;
  }

  /** The user is ready for its next step, which is due now unless it waits for others. */
  #arrive(user: number, due: Instant, now: Instant): void {
    const point = this.#rendezvous[this.#steps[user] ?? 0];
    if (point === undefined) this.#askAt(user, due, now);
    else point.arrive(user, now);
  }

  readonly #ask = (user: number, now: Instant): void => this.#askAt(user, now, now);

  #askAt(user: number, due: Instant, now: Instant): void {
    const step = this.#steps[user] ?? 0;
    if (step === 0) this.#beginFlow(user, due);
    const slot = this.#dispatch.due(due, now);
    this.#askers[slot] = user;
    this.#steps[user] = step + 1 === this.#dispatch.steps ? 0 : step + 1;
    this.#send(slot, user, step, now);
  }

  /** For the first time or again. */
  #send(slot: number, user: number, step: number, now: Instant): void {
    const target = this.#connections.targetFor(user, now);
    if (this.#live !== undefined) {
      this.#askLive(user, step, slot, target, now);
      return;
    }
    this.#dispatch.assign(
      slot,
      this.#connections.connection(user, target, now),
      this.#dispatch.ready(target, step),
      now,
    );
  }

  #askLive(user: number, step: number, slot: number, target: number, now: Instant): void {
    const session = this.#sessions[user];
    const live = this.#live?.[step];
    const at = this.#targets[target];
    const request =
      live === undefined || at === undefined ? undefined : session?.compose(live, at, this.#dispatch.version);
    if (request !== undefined) {
      this.#dispatch.assign(slot, this.#connections.connection(user, target, now), request, now, session);
      return;
    }
    this.#dispatch.fail(slot, target, 'no-variable', now);
    this.#steps[user] = 0;
    this.#dueAfter(longer(this.#draw(), restAfterFutile), user, now);
  }

  #beginFlow(user: number, due: Instant): void {
    this.#begun[user] = due;
    const iteration = (this.#iterations[user] ?? 0) + 1;
    this.#iterations[user] = iteration;
    this.#sessions[user]?.begin(iteration);
  }
}

const longer = (one: Duration, other: Duration): Duration => (one > other ? one : other);
