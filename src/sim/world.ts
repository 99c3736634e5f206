// The imagined world: a scenario's stations, gates and clients on one calendar, and everything that happens between them.
//
//   users, arrivals ──due──► request ──► gate ──pick──► job at a station ──► call ──► job at a dependency
//          ▲                                                   │
//          └────────────── answered, failed, timed out ◄───────┘
//
// Time passes only in service, in queues, in thought, and in timeouts. Without a network of the scenario's own (post.ts) messages
// take none, with one exception: what fails at once (refused, queue full, nobody fit) is told after a round trip, or a user
// without thought would fail infinitely often in no time.
//
// Chance: each station draws its service times from a stream of its own name, each balancer and each arrival process too, so
// a replica more or a policy less shifts nobody else's draws.
//
// Hot: everything from `#due` to `#next`. Nothing there allocates, but for a second attempt.
//
// Long because everything here changes the same state: what a request meets on its way, from due to done.

import { assert, dice, type Duration, instantAt, ns, us } from '../base.ts';
import { type RetryPolicy, retryPolicyOf } from '../policy.ts';
import {
  type Clients,
  type Demand,
  type FaultKind,
  type NetworkFaultKind,
  type OpenDemand,
  type Pacer,
  pacerOf,
  type PolicyName,
  type Scenario,
  type Service,
} from '../scenario.ts';
import { Books } from './books.ts';
import { Calls } from './calls.ts';
import { Checks } from './checks.ts';
import { Deadlines, type Timed } from './deadlines.ts';
import { Fleet, type FleetDuties } from './fleet.ts';
import type { Gate } from './gate.ts';
import { Gates } from './gates.ts';
import { Group, type GroupSettings, type Source } from './group.ts';
import { Jobs, outcomes, purposes, states } from './jobs.ts';
import { type EventHandler, Kernel } from './kernel.ts';
import type { End } from './network.ts';
import { Post } from './post.ts';
import { Requests } from './requests.ts';
import { Scaling, type ScalingDuties, type ScalingEvent } from './scaling.ts';
import type { Station } from './station.ts';
import { Thinking } from './thinking.ts';

/** How long it takes to hear that something failed at once. */
const roundTrip = us(200);
/** How long a user rests when nobody could be reached. */
const restAfterUnreachable = 100e6;

/** Kinds of event, in the order in which they happen when they fall on one instant: work is released, then told, then
 * patience runs out, then new work arrives. */
const kinds = {
  due: 0,
  tell: 1,
  plan: 2,
  deadline: 3,
  checkTimeout: 4,
  check: 5,
  rested: 6,
  arrival: 7,
  thoughts: 8,
  again: 9,
  callAgain: 10,
  processor: 11,
  gcPause: 12,
  message: 13,
} as const;
const ranks = [0, 1, 2, 3, 3, 4, 5, 5, 5, 5, 5, 0, 2, 1];

export const eventNames: readonly string[] = Object.keys(kinds);

/** How the users of a group keep their connections; undefined where they keep none. */
const pinnedBy = ({ pinned, keepAlive, usersPerConnection }: Clients): GroupSettings['pinned'] =>
  pinned === true ? { usersPerConnection: usersPerConnection ?? 1, keepAlive } : undefined;

export class World implements FleetDuties {
  readonly jobs = new Jobs();
  readonly requests = new Requests();
  readonly fleet: Fleet;
  readonly books: Books;
  /** Hears what autoscalers do. */
  onScaling: ((event: ScalingEvent, now: number) => void) | undefined;
  /** The groups of the present phase. */
  groups: readonly Group[] = [];

  readonly #seed: number;
  readonly #kernel: Kernel;
  readonly #gates: Gates;
  readonly #rings: Deadlines[] = [];
  readonly #calls: Calls;
  /** Undefined where messages take no time. */
  readonly #post: Post | undefined;
  /** Undefined where the scenario checks nobody's health. */
  readonly #checks: Checks | undefined;
  readonly #plans: ((now: number) => void)[] = [];
  readonly #thinking: Thinking;
  /** Users and groups of earlier phases have lower numbers: their late events mean nothing. */
  #firstUser = 0;
  #userCount = 0;
  #firstGroup = 0;
  #groupCount = 0;
  #accepting = false;

  constructor(scenario: Scenario, seed: number, brief = false) {
    this.#seed = seed;
    this.books = new Books(brief);
    this.#kernel = new Kernel(ranks, (kind, subject, now) => this.#handle(kind, subject, now));
    this.fleet = new Fleet(scenario, seed, this);
    const shared = {
      jobs: this.jobs,
      fleet: this.fleet,
      seed,
      abandon: (job: number, now: number): void => this.#abandon(job, now),
    };
    const { network } = scenario;
    this.#post =
      network === undefined
        ? undefined
        : new Post({
            ...shared,
            network,
            gateway: scenario.topology.gateway,
            requests: this.requests,
            schedule: (at, message) => this.#kernel.schedule(at, kinds.message, message),
            tell: (job, now) => this.#tell(job, now),
            reached: (request, now) => this.#reached(request, now),
            withdrawn: (request, now) => this.#withdrawn(request, now),
            heard: (request, now) => this.#responded(request, now),
          });
    this.#calls = new Calls({
      ...shared,
      send: (job, to, from, now) => this.#call(job, to, from, now),
      newDeadlines: (length, timed) => this.#deadlines(length, timed),
      scheduleAgain: (at, job) => this.#kernel.schedule(at, kinds.callAgain, job),
    });
    const health = scenario.topology.gateway?.health;
    this.#checks =
      health === undefined
        ? undefined
        : new Checks({
            ...shared,
            settings: health,
            send: (job, to, now) => this.#question(job, to, now),
            scheduleQuestion: (at, check) => this.#kernel.schedule(at, kinds.check, check),
            scheduleExpiry: (at, check) => this.#kernel.schedule(at, kinds.checkTimeout, check),
          });
    this.#gates = new Gates({
      ...shared,
      gateway: scenario.topology.gateway,
      newDeadlines: (length) => this.#deadlines(length, this.#gatewayTimed),
      watch: (gate, from, now) => this.#checks?.watch(gate, from, now),
    });
    this.#thinking = new Thinking({
      seed,
      ended: (user, group, now) => {
        if (this.#accepting) this.#due(group, user, now);
      },
      schedulePass: (at, number) => this.#kernel.schedule(at, kinds.thoughts, number),
      scheduleEnd: (at, user) => this.#kernel.schedule(at, kinds.rested, user),
    });
    for (const service of scenario.topology.services) this.setReplicas(service.name, service.replicas);
    for (const dependency of scenario.topology.dependencies) this.setReplicas(dependency.name, 1);
    this.#beginScaling(scenario.topology.services);
  }

  get now(): number {
    return this.#kernel.now;
  }

  /** Events handled so far. */
  get handled(): number {
    return this.#kernel.handled;
  }

  get digest(): string {
    return this.#kernel.digest;
  }

  /** Hears of every event before it is handled, for debugging; names by `eventNames`. */
  set trace(trace: EventHandler | undefined) {
    this.#kernel.trace = trace;
  }

  /** Lets everything happen up to and at `until`. */
  run(until: number): void {
    this.#kernel.run(until);
  }

  /** Handles one event; false when nothing is to come. */
  step(): boolean {
    return this.#kernel.step();
  }

  // ── what an operator does, and what goes wrong ────────────────────────────────────────────────────────────────────

  /** Whether anybody's health is checked. */
  get checksHealth(): boolean {
    return this.#checks !== undefined;
  }

  /** The load balancer before a service, where one has been asked for. */
  gateway(service: string): Gate | undefined {
    return this.#gates.gateway(service);
  }

  /** Adds replicas until there are `count`, here and in every list of them. */
  setReplicas(service: string, count: number): void {
    this.fleet.setReplicas(service, count, this.now);
    this.books.grow(this.fleet.stations.length);
    this.#gates.changed(service, this.now);
  }

  #beginScaling(services: readonly Service[]): void {
    const duties: ScalingDuties = {
      fleet: this.fleet,
      plan: (at, act) => this.plan(at, act),
      setReplicas: (service, count) => this.setReplicas(service, count),
      listed: (service, now) => this.#gates.changed(service, now),
      tell: (event, now) => this.onScaling?.(event, now),
    };
    for (const { name, autoscale } of services) {
      if (autoscale !== undefined) new Scaling(name, autoscale, duties).begin(this.now);
    }
  }

  /** From now on the gateway balances by this policy. */
  setPolicy(policy: PolicyName): void {
    this.#gates.setPolicy(policy);
  }

  /** Does something later. */
  plan(at: number, act: (now: number) => void): void {
    this.#plans.push(act);
    this.#kernel.schedule(at, kinds.plan, this.#plans.length - 1);
  }

  /** Something goes wrong, or right again. */
  inject(fault: FaultKind, now: number): void {
    this.fleet.inject(fault, now, (at, act) => this.plan(at, act));
  }

  /** Something goes wrong with the network. Returns what makes it right again. */
  disturb(fault: NetworkFaultKind): () => void {
    assert(this.#post !== undefined, 'what goes wrong with a network needs one');
    return this.#post.inject(fault);
  }

  // ── phases ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Clients begin to ask. `phase` numbers the phases: arrivals differ from one to the next. */
  begin(
    demands: readonly { readonly demand: Demand; readonly clients: Clients; readonly alone: string | undefined }[],
    setting: { readonly policy: PolicyName | undefined; readonly measureFrom: number; readonly phase: number },
  ): void {
    assert(this.requests.count === 0, 'a phase begins when the last one is over');
    const now = this.now;
    this.#firstGroup += this.#groupCount;
    this.#firstUser += this.#userCount;
    this.#groupCount = demands.length;
    let firstUser = this.#firstUser;
    const users = demands.reduce((sum, { demand }) => sum + (demand.kind === 'closed' ? demand.users : 0), 0);
    this.groups = demands.map(({ demand, clients, alone }, index) => {
      const gate =
        alone === undefined
          ? this.#gates.for(clients, setting.policy, setting.phase, now)
          : this.#gates.to(this.fleet.station(alone), now);
      const source: Source =
        demand.kind === 'closed'
          ? { ...demand, firstUser }
          : { kind: 'open', pacer: this.#pacer(demand, setting.phase, index), beganAt: now };
      if (demand.kind === 'closed') firstUser += demand.users;
      const name = alone === undefined ? clients.name : `visit ${alone}`;
      const deadlines = this.#deadlines(clients.timeout, this.#clientTimed);
      const retry = this.#retryPolicy(clients, setting.phase);
      const { measureFrom } = setting;
      const home = this.#post?.clients(clients);
      return new Group({ name, gate, source, deadlines, measureFrom, retry, pinned: pinnedBy(clients), home }, now);
    });
    this.#userCount = users;
    this.books.clear();
    this.#accepting = true;
    this.groups.forEach((group, index) => {
      if (group.source.kind === 'open') this.#scheduleArrival(group, index);
    });
    const sources = this.groups.map(({ source }) => source);
    this.#thinking.beginPhase(sources, setting.phase, now);
  }

  /** Undefined where clients do not ask again. Waits differ from phase to phase. */
  #retryPolicy({ name, retry }: Clients, phase: number): RetryPolicy | undefined {
    return retry === undefined ? undefined : retryPolicyOf(retry, dice(this.#seed, `retries/${name}/${phase}`));
  }

  /** Arrivals differ from phase to phase, and from one demand to another of the same group. */
  #pacer(demand: OpenDemand, phase: number, index: number): Pacer {
    return pacerOf(demand, dice(this.#seed, `arrivals/${phase}/${index}`).below(2 ** 31));
  }

  #scheduleArrival(group: Group, index: number): void {
    if (group.source.kind !== 'open') return;
    const due = group.source.pacer.due(group.arrivals);
    if (due === undefined) return;
    this.#kernel.schedule(group.source.beganAt + due, kinds.arrival, this.#firstGroup + index);
  }

  /** Nobody asks any more. Waits up to `grace` for what is under way, then lets go of the rest. */
  end(grace: Duration): void {
    this.#accepting = false;
    const until = this.now + grace;
    while (this.requests.count > 0 && this.#kernel.nextTime <= until) this.#kernel.step();
    for (const request of this.requests.live()) this.#leave(request, this.now);
    for (const group of this.groups) group.end(this.now);
  }

  #leave(request: number, now: number): void {
    const group = this.#groupOf(request);
    const dueAt = this.requests.dueAt[request] ?? 0;
    const replica = group.gate.isDirect ? this.#stationOf(request) : -1;
    this.#letGo(request, false, now);
    if ((this.requests.left[request] ?? 0) > 0) {
      this.#forget(request, now);
      return;
    }
    this.books.leftInFlight(group, replica, dueAt, now);
    this.#close(request, group, now);
  }

  // ── the life of a request ─────────────────────────────────────────────────────────────────────────────────────────

  #handle(kind: number, subject: number, now: number): void {
    switch (kind) {
      case kinds.due: {
        const station = this.fleet.stations[this.jobs.station[subject] ?? -1];
        assert(station !== undefined, 'a job that is due is at a station');
        station.due(subject, now);
        return;
      }
      case kinds.processor:
        this.fleet.stations[subject]?.wakeProcessor(now);
        return;
      case kinds.tell:
        this.#tell(subject, now);
        return;
      case kinds.rested:
        this.#rested(subject, now);
        return;
      case kinds.thoughts:
        this.#thinking.pass(subject, now);
        return;
      case kinds.again:
        this.#askAgain(subject, now);
        return;
      case kinds.callAgain:
        this.#calls.again(subject, now);
        return;
      case kinds.message:
        this.#post?.pass(subject, now);
        return;
      case kinds.arrival:
        if (this.#accepting && subject >= this.#firstGroup) this.#arrive(subject - this.#firstGroup, now);
        return;
      case kinds.deadline:
        this.#rings[subject]?.pass(now);
        return;
      case kinds.check:
        this.#checks?.ask(subject, now);
        return;
      case kinds.checkTimeout:
        this.#checks?.expire(subject, now);
        return;
      case kinds.gcPause:
        this.fleet.passGcPause(subject, now);
        return;
      case kinds.plan:
        this.#plans[subject]?.(now);
        return;
    }
  }

  /** A user has rested, or has thought by an event of its own. */
  #rested(user: number, now: number): void {
    if (this.#accepting && user >= this.#firstUser) this.#thinking.arrive(user, this.#groupOfUser(user), now);
  }

  #groupOfUser(user: number): number {
    return this.groups.findIndex(
      ({ source }) => source.kind === 'closed' && user >= source.firstUser && user < source.firstUser + source.users,
    );
  }

  #arrive(index: number, now: number): void {
    const group = this.groups[index];
    assert(group !== undefined, 'an arrival belongs to a group');
    group.arrivals += 1;
    this.#scheduleArrival(group, index);
    this.#due(index, -1, now);
  }

  #due(index: number, user: number, now: number): void {
    const group = this.groups[index];
    assert(group !== undefined, 'a request belongs to a group');
    const { requests } = this;
    const at = instantAt(now);
    const request = requests.allocate(index, user, now);
    const { views } = group.gate;
    // A closed user keeps its connection to one of the balancers; open arrivals take them in turn.
    requests.view[request] = views === 1 ? 0 : (user < 0 ? group.arrivals : user) % views;
    group.recent.plan();
    if (group.isMeasured(now)) group.measured.plan();
    group.inFlight.change(1, at);
    group.retry?.budget?.deposit(at);
    this.#ask(request, group, now);
  }

  /** The client asks, for the first time or again. */
  #ask(request: number, group: Group, now: number): void {
    group.deadlines.set(request, this.requests.generation[request] ?? 0, now);
    if (this.#post === undefined || group.gate.isDirect) this.#enter(request, group, now);
    else this.#request(this.#post, request, group, now);
  }

  /** A request comes to its gate. */
  #enter(request: number, group: Group, now: number): void {
    const at = instantAt(now);
    const { gate } = group;
    this.requests.atGate[request] = 1;
    gate.inFlight.change(1, at);
    gate.requests += 1;
    gate.budget?.deposit(at);
    gate.deadlines?.set(request, this.requests.generation[request] ?? 0, now);
    this.#attempt(request, group, now);
  }

  /** The gate has done with a request, if it has it. */
  #exit(request: number, gate: Gate, now: number): void {
    if (this.requests.atGate[request] !== 1) return;
    this.requests.atGate[request] = 0;
    gate.inFlight.change(-1, instantAt(now));
  }

  #attempt(request: number, group: Group, now: number): void {
    const { requests, jobs } = this;
    const { gate } = group;
    const attempts = requests.attempts[request] ?? 0;
    const endpoint = group.endpointFor(
      requests.user[request] ?? -1,
      requests.view[request] ?? 0,
      attempts > 0 ? requests.tried.get(request) : undefined,
      now,
    );
    const job = jobs.allocate(purposes.request, request);
    requests.job[request] = job;
    if (endpoint === undefined) {
      this.ended(job, outcomes.unfit);
      return;
    }
    requests.endpoint[request] = endpoint;
    requests.attempts[request] = attempts + 1;
    requests.attemptAt[request] = now;
    gate.started(requests.view[request] ?? 0, endpoint, now);
    this.#forward(job, request, group, gate.station(endpoint), now);
  }

  /** A station has done with a job, or never took it. */
  ended(job: number, outcome: number): void {
    const { jobs } = this;
    const child = jobs.child[job] ?? -1;
    if (child >= 0) this.#abandon(child, this.now);
    if ((jobs.parent[job] ?? -1) < 0) {
      jobs.free(job);
      return;
    }
    jobs.outcome[job] = outcome;
    jobs.state[job] = states.telling;
    const { now } = this;
    const earliest = outcome === outcomes.ok ? now : now + roundTrip;
    if (this.#post !== undefined && (jobs.station[job] ?? -1) >= 0) this.#post.answer(job, now, earliest);
    else if (earliest > now) this.#kernel.schedule(earliest, kinds.tell, job);
    else this.#tell(job, now);
  }

  /** Whoever waits for the job hears of its end. */
  #tell(job: number, now: number): void {
    const { jobs } = this;
    const parent = jobs.parent[job] ?? -1;
    const purpose = jobs.purpose[job];
    const outcome = jobs.outcome[job] ?? 0;
    const station = jobs.station[job] ?? -1;
    jobs.free(job);
    if (parent < 0) return;
    if (purpose === purposes.request) this.#attempted(parent, outcome, station, now);
    else if (purpose === purposes.call) this.#calls.ended(parent, outcome, now);
    else this.#checks?.answered(parent, outcome === outcomes.ok, now);
  }

  #attempted(request: number, outcome: number, station: number, now: number): void {
    const { requests } = this;
    const group = this.#groupOf(request);
    const { gate } = group;
    const endpoint = requests.endpoint[request] ?? -1;
    requests.job[request] = -1;
    if (endpoint >= 0) {
      requests.endpoint[request] = -1;
      gate.finished(
        requests.view[request] ?? 0,
        endpoint,
        outcome === outcomes.ok,
        ns(now - (requests.attemptAt[request] ?? 0)),
        now,
      );
    }
    if (outcome === outcomes.reset || outcome === outcomes.refused) {
      group.connectionBroke(requests.user[request] ?? -1, endpoint, now);
    }
    if (this.#mayRetry(request, gate, outcome, now)) {
      const tried = requests.tried.get(request) ?? [];
      tried.push(endpoint);
      gate.retried += 1;
      requests.tried.set(request, tried);
      this.#attempt(request, group, now);
      return;
    }
    this.#conclude(request, group, outcome, station, now);
  }

  /** What became of a request is settled at its gate; its client hears of it. */
  #conclude(request: number, group: Group, outcome: number, station: number, now: number): void {
    if (this.#post === undefined || group.gate.isDirect) {
      this.#heard(request, group, outcome, station, now);
      return;
    }
    this.#exit(request, group.gate, now);
    this.requests.outcome[request] = outcome;
    this.requests.answeredBy[request] = station;
    this.#post.respond(request, this.#gateOf(this.#post, request, group), clientsOf(group), now);
  }

  #heard(request: number, group: Group, outcome: number, station: number, now: number): void {
    if (outcome === outcomes.ok) this.#answered(request, group, true, station, now);
    else this.#failed(request, group, outcome, station, now);
  }

  #mayRetry(request: number, gate: Gate, outcome: number, now: number): boolean {
    if (outcome !== outcomes.refused && outcome !== outcomes.reset) return false;
    if ((this.requests.attempts[request] ?? 0) > gate.retries) return false;
    return gate.budget?.withdraw(instantAt(now)) ?? false;
  }

  /** A request whose last attempt went wrong. What a replica answered itself is told as its answer. */
  #failed(request: number, group: Group, outcome: number, station: number, now: number): void {
    if (this.#rests(request, group, now)) return;
    const direct = group.gate.isDirect;
    switch (outcome) {
      case outcomes.full:
      case outcomes.failed:
      case outcomes.callFailed:
      case outcomes.callTimedOut:
        this.#answered(request, group, false, station, now);
        return;
      case outcomes.reset:
        if (direct) this.#unanswered(request, group, 'reset', station, now);
        else this.#answeredByGate(request, group, 'upstream-closed', now);
        return;
      case outcomes.refused:
        if (direct) this.#unanswered(request, group, 'refused', station, now);
        else this.#answeredByGate(request, group, 'connect-failed', now);
        return;
      case outcomes.unfit:
        this.#answeredByGate(request, group, 'no-healthy-endpoint', now);
        return;
      case outcomes.gateTimedOut:
        this.#answeredByGate(request, group, 'timed-out', now);
        return;
      default:
        assert(false, 'a failed attempt has an outcome');
    }
  }

  /** Whether the client will ask again after what has just failed; it rests until then. */
  #rests(request: number, group: Group, now: number): boolean {
    const { requests } = this;
    const { retry, gate } = group;
    if (retry === undefined || !this.#accepting) return false;
    const tries = (requests.tries[request] ?? 0) + 1;
    const at = instantAt(now);
    if (tries > retry.retries || retry.budget?.withdraw(at) === false) return false;
    requests.tries[request] = tries;
    group.retried += 1;
    requests.attempts[request] = 0;
    requests.tried.delete(request);
    requests.forgetDeadlines(request);
    this.#exit(request, gate, now);
    const until = now + Math.round(retry.wait(tries));
    requests.restsUntil[request] = until;
    this.#kernel.schedule(until, kinds.again, request);
    return true;
  }

  #askAgain(request: number, now: number): void {
    // What has ended meanwhile, with its phase, does not rest any more.
    if (this.requests.restsUntil[request] !== now) return;
    this.requests.restsUntil[request] = -1;
    this.#ask(request, this.#groupOf(request), now);
  }

  #answered(request: number, group: Group, ok: boolean, station: number, now: number): void {
    const dueAt = this.requests.dueAt[request] ?? 0;
    this.books.answered(group, station, ok, dueAt, now);
    this.#close(request, group, now);
  }

  /** The gate's own answer, 502 to 504. */
  #answeredByGate(request: number, group: Group, kind: string, now: number): void {
    const dueAt = this.requests.dueAt[request] ?? 0;
    this.books.answeredByGate(group, kind, dueAt, now);
    this.#close(request, group, now);
  }

  /** No answer at all: the connection was refused or broke. */
  #unanswered(request: number, group: Group, kind: string, station: number, now: number): void {
    const dueAt = this.requests.dueAt[request] ?? 0;
    this.books.unanswered(group, station, kind, dueAt, now);
    group.disconnected(this.requests.user[request] ?? -1);
    this.#close(request, group, now, kind === 'refused' ? restAfterUnreachable : 0);
  }

  /** The client's patience is over. */
  #clientExpired(request: number, now: number): void {
    const group = this.#groupOf(request);
    const dueAt = this.requests.dueAt[request] ?? 0;
    const { isDirect } = group.gate;
    const replica = isDirect ? this.#stationOf(request) : -1;
    group.gaveUp(this.requests.user[request] ?? -1, this.requests.endpoint[request] ?? -1, now);
    const own = this.#hangUp(request, group, now);
    if (this.#rests(own, group, now)) return;
    this.books.timedOut(group, replica, dueAt, now);
    this.#close(own, group, now);
  }

  /** The client gives up what it waits for. Returns the number under which it goes on: another where the gate learns of it later. */
  #hangUp(request: number, group: Group, now: number): number {
    const isDirect = group.gate.isDirect;
    group.disconnected(this.requests.user[request] ?? -1);
    if (this.#post === undefined || isDirect) {
      this.#letGo(request, !isDirect, now);
      return request;
    }
    this.#post.withdraw(request, clientsOf(group), this.#gateOf(this.#post, request, group), now);
    return this.requests.split(request);
  }

  /** The gate's patience is over. What it has answered already is on its way. */
  #gatewayExpired(request: number, now: number): void {
    if (this.requests.atGate[request] !== 1) return;
    const group = this.#groupOf(request);
    this.#letGo(request, false, now);
    this.#conclude(request, group, outcomes.gateTimedOut, -1, now);
  }

  /** Gives up the present attempt, if there is one. */
  #letGo(request: number, ok: boolean, now: number): void {
    const { requests } = this;
    const job = requests.job[request] ?? -1;
    const endpoint = requests.endpoint[request] ?? -1;
    if (job >= 0) this.#abandon(job, now);
    requests.job[request] = -1;
    if (endpoint < 0) return;
    requests.endpoint[request] = -1;
    const latency = ns(now - (requests.attemptAt[request] ?? 0));
    this.#groupOf(request).gate.finished(requests.view[request] ?? 0, endpoint, ok, latency, now);
  }

  #abandon(job: number, now: number): void {
    if (this.#post !== undefined && (this.jobs.station[job] ?? -1) >= 0) {
      this.#post.recall(job, now);
      return;
    }
    const station = this.fleet.stations[this.jobs.station[job] ?? -1];
    if (station === undefined) this.jobs.parent[job] = -1;
    else station.abandon(job, now);
  }

  #close(request: number, group: Group, now: number, restAtLeast = 0): void {
    const user = this.requests.user[request] ?? -1;
    const index = this.requests.group[request] ?? -1;
    this.#exit(request, group.gate, now);
    this.requests.free(request);
    group.inFlight.change(-1, instantAt(now));
    this.#next(index, group, user, now, restAtLeast);
  }

  /** A closed user goes on. */
  #next(index: number, group: Group, user: number, now: number, restAtLeast: number): void {
    if (!this.#accepting || group.source.kind !== 'closed') return;
    if (restAtLeast === 0) this.#thinking.begin(user, index, now);
    else this.#kernel.schedule(now + this.#thinking.pause(user, index, restAtLeast, now), kinds.rested, user);
  }

  #groupOf(request: number): Group {
    const group = this.groups[this.requests.group[request] ?? -1];
    assert(group !== undefined, 'a request belongs to a group');
    return group;
  }

  #stationOf(request: number): number {
    return this.jobs.station[this.requests.job[request] ?? -1] ?? -1;
  }

  // ── over the network, where there is one ──────────────────────────────────────────────────────────────────────────

  /** From a gate, or from a client itself. */
  #forward(job: number, request: number, group: Group, to: Station, now: number): void {
    if (this.#post === undefined) to.arrive(job, now);
    else if (!group.gate.isDirect) this.#post.ask(job, this.#gateOf(this.#post, request, group), to.index, now);
    else if (group.opens(this.requests.user[request] ?? -1)) this.#post.askAnew(job, clientsOf(group), to.index, now);
    else this.#post.ask(job, clientsOf(group), to.index, now);
  }

  #call(job: number, to: Station, from: number, now: number): void {
    if (this.#post === undefined) to.arrive(job, now);
    else this.#post.ask(job, this.#post.station(from), to.index, now);
  }

  /** The first of the gateways asks for all, each time on a connection of its own. */
  #question(job: number, to: Station, now: number): void {
    if (this.#post === undefined) to.arrive(job, now);
    else this.#post.askAnew(job, this.#post.gate('gateway', 0), to.index, now);
  }

  /** From a client to its gate. */
  #request(post: Post, request: number, group: Group, now: number): void {
    const gate = this.#gateOf(post, request, group);
    if (group.opens(this.requests.user[request] ?? -1)) post.requestAnew(request, clientsOf(group), gate, now);
    else post.request(request, clientsOf(group), gate, now);
  }

  #gateOf(post: Post, request: number, { gate }: Group): End {
    return post.gate(gate.kind, this.requests.view[request] ?? 0);
  }

  #reached(request: number, now: number): void {
    const isWithdrawn = this.requests.left[request] === 2;
    this.#enter(request, this.#groupOf(request), now);
    if (isWithdrawn) this.#withdrawn(request, now);
  }

  #withdrawn(request: number, now: number): void {
    const { requests } = this;
    if (requests.atGate[request] !== 1) {
      // Not there yet, or answered already.
      requests.left[request] = 2;
      return;
    }
    this.#letGo(request, true, now);
    this.#forget(request, now);
  }

  #responded(request: number, now: number): void {
    const { requests } = this;
    const group = this.#groupOf(request);
    if ((requests.left[request] ?? 0) > 0) this.#forget(request, now);
    else this.#heard(request, group, requests.outcome[request] ?? 0, requests.answeredBy[request] ?? -1, now);
  }

  /** A request whose client has left is over at its gate, too. */
  #forget(request: number, now: number): void {
    this.#exit(request, this.#groupOf(request).gate, now);
    this.requests.free(request);
  }

  // ── what stations ask of the world ────────────────────────────────────────────────────────────────────────────────

  scheduleDue(at: number, job: number): void {
    this.#kernel.schedule(at, kinds.due, job);
  }

  scheduleProcessor(at: number, station: Station): void {
    this.#kernel.schedule(at, kinds.processor, station.index);
  }

  scheduleGcPause(at: number, station: number): void {
    this.#kernel.schedule(at, kinds.gcPause, station);
  }

  makeCall(job: number, station: Station): void {
    this.#calls.make(job, station, this.now);
  }

  // ── timeouts ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** One ring for all that have this long and end the same way, however many groups and gates they belong to. */
  #deadlines(length: number, timed: Timed): Deadlines {
    const known = this.#rings.find((ring) => ring.length === length && ring.timed === timed);
    if (known !== undefined) return known;
    const index = this.#rings.length;
    const ring = new Deadlines(length, timed, (at) => this.#kernel.schedule(at, kinds.deadline, index));
    this.#rings.push(ring);
    return ring;
  }

  readonly #isRequest = (request: number, generation: number): boolean =>
    this.requests.generation[request] === generation;

  readonly #clientTimed: Timed = {
    isAlive: this.#isRequest,
    expire: (request, now) => this.#clientExpired(request, now),
  };

  readonly #gatewayTimed: Timed = {
    isAlive: this.#isRequest,
    expire: (request, now) => this.#gatewayExpired(request, now),
  };
}

function clientsOf({ home }: Group): End {
  assert(home !== undefined, 'where there is a network, clients stand somewhere in it');
  return home;
}
