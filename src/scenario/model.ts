// A scenario is data: what stands where, who asks for what and when, what goes wrong, what must hold. These are the parsed
// values; `parse.ts` makes them from YAML and is the only place that meets a person's mistakes.
//
//   clients ──► gateway ──► service (replicas × workers) ──► dependency
//        └────► registry list ──┘

import type { Duration } from '../base.ts';
import type { Bursts } from './pace/bursty.ts';
import type { RateStage } from './pace/stages.ts';

export interface Scenario {
  readonly name: string;
  /** One line for `plimsoll scenarios`. */
  readonly about: string;
  readonly topology: Topology;
  readonly demand: readonly Demand[];
  /** Connections that are held besides. Sockets only: in imagined time there are none. */
  readonly connections?: readonly HeldConnections[];
  /** What goes wrong with processes. */
  readonly faults: readonly Fault[];
  /** Absent: messages take no time, and none is lost. */
  readonly network?: Network;
  readonly objectives: readonly Objective[];
  /** The first part of the baseline, not judged. */
  readonly warmUp: Duration;
  /** How long the baseline is judged. */
  readonly duration: Duration;
  /** The verdict that this scenario should end in: only the exit code reads it, never the diagnosis. */
  readonly expect: string | undefined;
  /** Settings such as `demand.0.closed.users=400` with which real processes play it: what is too large for one machine is scaled
   * down. Absent: as it is. */
  readonly inLab?: readonly string[];
  /** How many services each of these names stood for before they were written out. */
  readonly copies?: Readonly<Record<string, number>>;
}

export interface Topology {
  readonly services: readonly Service[];
  readonly dependencies: readonly Dependency[];
  /** Absent when every client group uses the registry. */
  readonly gateway: Gateway | undefined;
  readonly clients: readonly Clients[];
}

export interface Service {
  readonly name: string;
  /** Their ids are `<name>-1` … `<name>-n`. */
  readonly replicas: number;
  /** Fixed worker pool of each replica: the capacity is workers ÷ service time. */
  readonly workers: number;
  readonly serviceTime: Distribution;
  /** Processor time that each request needs first, on top of the service time. */
  readonly cpuTime: Distribution;
  readonly queue: Queue;
  /** Cores, enforced by a cgroup where one can be written. */
  readonly cpuQuota: number | undefined;
  /** How requests get their processor time: one after the other, as of a process with one thread (by default), or all at once. */
  readonly cpuScheduling?: 'fifo' | 'shared';
  /** That they share; absent: one. */
  readonly cores?: number;
  readonly calls: readonly Call[];
  /** Whether `/healthz` waits for a worker like any request. */
  readonly healthSharesPool: boolean;
  /** A replica that was just started is slow at first: empty caches, code not compiled yet. */
  readonly coldStart?: ColdStart;
  /** Each replica stands still again and again, as in garbage collections. */
  readonly gcPauses?: GcPauses;
  /** Where the replicas stand, in turn: the first in the first zone, … */
  readonly zones?: readonly string[];
  /** Absent: there are as many replicas as `replicas` says. Imagined time only. */
  readonly autoscale?: Autoscale | undefined;
}

/** Replicas come and go after the algorithm of Kubernetes' horizontal pod autoscaler. */
export interface Autoscale {
  readonly min: number;
  readonly max: number;
  /** What is held against the target: workers that are busy, or processor time used, of what a replica has. */
  readonly metric: 'workers' | 'cpu';
  /** The share (0–1) that is wanted, on average over the replicas. */
  readonly target: number;
  /** From one look to the next. */
  readonly every: Duration;
  /** Up to this share off the target nothing changes. */
  readonly tolerance: number;
  /** From the decision until a new replica takes requests. */
  readonly startLag: Duration;
  /** Fewer replicas must have been enough for so long. */
  readonly scaleDownAfter: Duration;
}

/** Service and processor times are multiplied by `factor` at the start, and by less and less, in a straight line, until they are
 * themselves after `length`. Replicas that stand when the run begins are warm. */
export interface ColdStart {
  readonly factor: number;
  readonly length: Duration;
}

export interface GcPauses {
  /** From the end of one to the beginning of the next. Before the first a replica has run for a part of that, so that replicas
   * do not pause in step. */
  readonly every: Distribution;
  readonly length: Distribution;
}

export interface Queue {
  /** Requests that may wait for a worker in one replica; the next one is answered 503. */
  readonly limit: number;
  /** What becomes of waiting requests whose client has left. Most real servers serve them. */
  readonly abandoned: 'served' | 'dropped';
  /** Who is next: the oldest (by default), the newest, or the oldest that has not waited too long: while the queue has not been empty for
   * 100 ms, whoever has waited more than 5 ms is refused. Imagined time only, but for the default. */
  readonly order?: 'fifo' | 'lifo' | 'codel' | undefined;
}

/** A datastore or another thing that services call: one process, its own worker pool. */
export interface Dependency {
  readonly name: string;
  readonly workers: number;
  readonly serviceTime: Distribution;
  /** Where it stands. */
  readonly zone?: string;
}

export interface Call {
  /** A dependency or another service (then one of its replicas is chosen by `choice`). */
  readonly to: string;
  readonly timeout: Duration | undefined;
  readonly retries: number;
  /** Ceiling of the wait before the first retry; it doubles from try to try, and the wait is drawn below it. Absent: at once. */
  readonly backOff?: Duration;
  /** Retries for each call at most, of all calls that one replica makes, over ten seconds. Absent: no budget. */
  readonly budget?: number;
  readonly choice: Choice;
}

export type Distribution =
  | { readonly kind: 'constant'; readonly value: Duration }
  | { readonly kind: 'exponential'; readonly mean: Duration }
  | { readonly kind: 'uniform'; readonly min: Duration; readonly max: Duration }
  /** Log-normal with this median and this 99th percentile. */
  | { readonly kind: 'log-normal'; readonly median: Duration; readonly p99: Duration };

export type Choice = 'pick-first' | 'round-robin' | 'random';
export type PolicyName = 'round-robin' | 'random' | 'least-request';

export interface Gateway {
  readonly policy: PolicyName;
  /** Whole time allowed for one request, retries included. */
  readonly timeout: Duration;
  readonly connectTimeout: Duration;
  readonly retries: number;
  readonly health: HealthCheck | undefined;
  /** So many of them, each with its own count of what is in flight; absent: one. Imagined time only. */
  readonly count?: number;
  /** Where they stand, in turn: the first in the first zone, … */
  readonly zones?: readonly string[];
}

export interface HealthCheck {
  readonly path: string;
  readonly interval: Duration;
  readonly timeout: Duration;
  /** Failures in a row that take a replica out, successes in a row that bring it back. */
  readonly fall: number;
  readonly rise: number;
}

export interface Clients {
  readonly name: string;
  readonly service: string;
  /** `gateway`: the load balancer. `registry`: straight to a replica from the registry's list. `forwarder`: through a
   * forwarding proxy that holds the registry's list and spreads in turn. */
  readonly via: 'gateway' | 'registry' | 'forwarder';
  /** How a registry client chooses from the list. */
  readonly choice: Choice;
  readonly timeout: Duration;
  /** Absent: what failed has failed. */
  readonly retry?: ClientRetry;
  /** Where they stand. Registry clients ask only replicas of their zone, as long as there is one. */
  readonly zone?: string;
  /** Each user keeps the replica that its connection was made to, until that breaks: from the registry's list, or placed by the
   * gateway, which is a balancer of connections then. */
  readonly pinned?: boolean;
  /** So many pinned users share one connection, as streams of HTTP/2; absent: one. Imagined time only. */
  readonly usersPerConnection?: number;
  /** When a connection is closed, though it is good; absent: never. */
  readonly keepAlive?: KeepAlive;
}

/** A connection is closed after so many requests or so long, whichever comes first; the next request opens another. At least
 * one of the two is there. Connections that were all opened at once are not all closed at once: see `firstKeepAlive`. */
export interface KeepAlive {
  readonly requests: number | undefined;
  /** From its opening. It is closed between two requests: when the next one would use it. */
  readonly lifetime: Duration | undefined;
}

/** The client asks again after a failure or its timeout, which then holds for each try. */
export interface ClientRetry {
  /** Further tries after the first. */
  readonly retries: number;
  /** Ceiling of the first wait; it doubles from try to try, and the wait is drawn below it. Zero: at once. */
  readonly backOff: Duration;
  /** Retries for each request at most, all users together over ten seconds. Undefined: no budget. */
  readonly budget: number | undefined;
}

export type Demand = ClosedDemand | OpenDemand;

/** So many users, each waiting for its answer before it goes on. */
export interface ClosedDemand {
  readonly kind: 'closed';
  readonly clients: string;
  readonly users: number;
  readonly flow: readonly Step[];
  /** From an answer to the user's next request. */
  readonly think: Distribution;
  /** A user begins its flow anew at least this long after it began it last. */
  readonly pacing?: Duration;
  /** Each user keeps the cookies that it is given, and sends them. */
  readonly cookies?: boolean;
}

/** So many requests a second, whatever the answers do. */
export interface OpenDemand {
  readonly kind: 'open';
  readonly clients: string;
  readonly ratePerSecond: number;
  readonly arrivals: 'constant' | 'poisson';
  /** The rate moves from `ratePerSecond` through these in straight lines, and stays at the last. */
  readonly stages?: readonly RateStage[];
  /** So many at once, again and again, instead of a rate. */
  readonly bursts?: Bursts;
  /** Instead of a rate: when each request is due, in rising order; there are no more than these. With as many steps in the
   * flow each request is the one that it was. */
  readonly times?: readonly Duration[];
  readonly flow: readonly Step[];
}

/** Connections that are opened and kept, besides those that carry requests. Three dials that do not know of each other are
 * connections held, new connections a second, and (in the demand) requests a second. */
export interface HeldConnections {
  readonly clients: string;
  /** How many are to be held. */
  readonly held: Dial;
  /** New connections a second once that many are held: each takes the place of the oldest. */
  readonly newPerSecond?: Dial;
  /** New connections a second, at most, while fewer are held than should be. */
  readonly openingPerSecond: number;
}

/** A value that may move: from `from` through the stages in straight lines, then it stays. */
export interface Dial {
  readonly from: number;
  readonly stages?: readonly DialStage[];
}

export interface DialStage {
  readonly over: Duration;
  readonly to: number;
}

/** One request. For closed users path, headers and body may name variables as `${name}`: those extracted by earlier steps,
 * and `${user}` and `${iteration}`, which count from 1. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** `${…}` in it is no variable: it was asked like that. */
  readonly literal?: true;
  /** After the answer to this step, instead of the demand's own. Closed users only, as what follows. */
  readonly think?: Distribution;
  readonly extract?: readonly Extraction[];
  /** Users gather before this step and take it together. */
  readonly rendezvous?: Rendezvous;
}

/** A variable that is read from an answer. */
export type Extraction = { readonly variable: string } & (
  | { readonly from: 'header'; readonly header: string }
  /** A path into JSON: `items.0.id`. */
  | { readonly from: 'json'; readonly path: string }
  /** The text between two others, where they first occur. */
  | { readonly from: 'text'; readonly after: string; readonly before: string }
);

export interface Rendezvous {
  /** So many go together. */
  readonly users: number;
  /** Whoever has waited this long goes with those who are there. */
  readonly timeout: Duration;
}

/** What goes wrong and when (from the start of the run). `for` ends it; without it the fault lasts. */
export type Fault = { readonly at: Duration; readonly for: Duration | undefined } & FaultKind;

export type FaultKind =
  /** Service times of one replica are multiplied. */
  | { readonly kind: 'slow'; readonly replica: string; readonly factor: number }
  /** SIGSTOP; `resume` or `for` sends SIGCONT. */
  | { readonly kind: 'stop'; readonly replica: string }
  | { readonly kind: 'resume'; readonly replica: string }
  | { readonly kind: 'kill'; readonly replica: string }
  | { readonly kind: 'restart'; readonly replica: string }
  /** Part of the process's time (0–1) is burnt on something else. */
  | { readonly kind: 'burn'; readonly replica: string; readonly share: number }
  /** The process stands still for this long, as in a garbage collection. */
  | { readonly kind: 'pause'; readonly replica: string; readonly length: Duration }
  /** A share (0–1) of the requests is answered with an error after this time, without a worker. Health checks still pass. */
  | { readonly kind: 'fail'; readonly replica: string; readonly share: number; readonly after: Duration };

/** What lies between processes. Imagined time only. */
export interface Network {
  /** What a message takes, one way. */
  readonly delay: Distribution;
  /** The same between two that stand in different zones; absent: as everywhere. */
  readonly betweenZones?: Distribution;
  /** Of all messages, the share (0–1) that is lost, and sent again by TCP. */
  readonly loss: number;
  /** What goes wrong with it. */
  readonly faults: readonly NetworkFault[];
}

export type NetworkFault = { readonly at: Duration; readonly for: Duration | undefined } & NetworkFaultKind;

export type NetworkFaultKind =
  /** Nothing gets through between two sides: a zone, a service, a dependency, a client group, a replica or `gateway`; without
   * `from` between one and everything else. */
  | { readonly kind: 'partition'; readonly of: string; readonly from: string | undefined }
  /** Each message from and to one replica takes longer, or is lost more often. */
  | { readonly kind: 'link'; readonly replica: string; readonly delay: Duration; readonly loss: number };

/** k6's threshold grammar: a metric and an expression such as `p(95)<200` (milliseconds) or `rate<0.01`. */
export interface Objective {
  readonly metric: string;
  readonly expression: string;
  readonly aggregate: 'p' | 'avg' | 'min' | 'med' | 'max' | 'rate' | 'count';
  /** For `p`: 0–100. */
  readonly percentile: number | undefined;
  readonly operator: '<' | '<=' | '>' | '>=' | '==' | '!=';
  readonly bound: number;
  /** Only the requests of one replica, or of one client group, or of one group at one replica. Absent: all. */
  readonly filters?: readonly ObjectiveFilter[];
  /** It must hold over every stretch of this length, and not only over the whole. */
  readonly window?: Duration;
  /** The load ends as soon as it does not hold, though not before this much has been judged. Absent: it goes on. */
  readonly abortAfter?: Duration;
}

export interface ObjectiveFilter {
  readonly key: 'replica' | 'group';
  readonly value: string;
}
