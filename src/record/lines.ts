// The record, version 1: what did happen, whatever world it happened in. JSON Lines, one object a line, each written as it
// happens, so a run that dies leaves everything up to its last whole line.
//
//   header ─ topology ─ ( phase ─ event* ─ tick* ─ histogram* ─ ledger* )* ─ verdict? ─ end?
//
// Units stand in the names (`_ns`, `_bytes`, `_per_s`); every `at_ns` counts from the header's `started_at`. Snake case,
// because this is a format on disk. A field that was not observed is absent, never 0: a stopped replica cannot be scraped,
// and an access log does not know how many workers there are.
//
// What is not here: the truth about injected faults. It goes to a file beside the record (`truth.ts`) that only a scorer
// opens. An experiment, in contrast, is something the operator did on purpose to learn; its phase says so.

import type { HistogramFields } from '../stats.ts';

/** Version of this format. A reader refuses a higher one and says so. */
export const recordVersion = 1;

export type RecordLine =
  | HeaderLine
  | TopologyLine
  | PhaseLine
  | EventLine
  | TickLine
  | HistogramLine
  | LedgerLine
  | JournalLine
  | VerdictLine
  | EndLine;

/** First line: where and when this was, with everything that could explain a difference between two runs. */
export interface HeaderLine {
  readonly kind: 'header';
  readonly format: 'plimsoll-record';
  readonly version: number;
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly started_at: string;
  /** Which world: a lab, a simulation, a live deployment, or a foreign file read by `observe`. */
  readonly world: 'lab' | 'sim' | 'live' | 'foreign';
  readonly scenario: string;
  readonly seed?: number;
  readonly environment: Environment;
}

/** The machine and the programs. Absent: not known (a foreign log does not tell). */
export interface Environment {
  readonly plimsoll: string;
  readonly node?: string;
  readonly os?: string;
  readonly kernel?: string;
  readonly cpu_model?: string;
  readonly cores?: number;
  readonly memory_bytes?: number;
  readonly limits?: Readonly<Record<string, number | string>>;
  readonly programs?: Readonly<Record<string, string>>;
  /** For a foreign record: the files it was read from. */
  readonly sources?: readonly string[];
}

/** The components and their settings, as an operator could read them from configuration. */
export interface TopologyLine {
  readonly kind: 'topology';
  readonly at_ns: number;
  readonly services: readonly ServiceFacts[];
  readonly gateway?: GatewayFacts;
  readonly clients: readonly ClientFacts[];
}

export interface ServiceFacts {
  readonly name: string;
  /** `service`: load balanced replicas; `dependency`: what services call. */
  readonly role: 'service' | 'dependency';
  readonly replicas: readonly ReplicaFacts[];
  readonly calls?: readonly CallFacts[];
  /** Requests that may wait for a worker in one replica; the next one is refused. */
  readonly queue_limit?: number;
  /** What becomes of waiting requests whose client has left. */
  readonly queue_abandoned?: 'served' | 'dropped';
  /** Whether health checks wait for a worker like any request. */
  readonly health_shares_pool?: boolean;
}

export interface ReplicaFacts {
  /** Unique in the record: `api-2`. What `x-plimsoll-replica` carries, or the server's name in the balancer. */
  readonly id: string;
  readonly address?: string;
  /** Size of the fixed worker pool. */
  readonly workers?: number;
  /** CPU quota in cores, where one is enforced. */
  readonly cpu_quota?: number;
  readonly zone?: string;
}

export interface CallFacts {
  readonly to: string;
  readonly timeout_ns?: number;
  readonly retries?: number;
  /** Ceiling of the wait before the first retry, and retries for each call at most, where there is a budget. */
  readonly back_off_ns?: number;
  readonly retry_budget?: number;
}

export interface GatewayFacts {
  /** `plimsoll`, `haproxy`, `nginx`, … */
  readonly program: string;
  readonly version?: string;
  /** As in a scenario: `round-robin`, `random`, `least-request`. */
  readonly policy?: string;
  readonly timeout_ns?: number;
  readonly retries?: number;
  /** How many of them share the load, each with its own view of the replicas; one where absent. */
  readonly count?: number;
  readonly health?: HealthFacts;
}

/** How the balancer asks replicas whether they are fit. */
export interface HealthFacts {
  readonly interval_ns: number;
  readonly timeout_ns: number;
  /** Failures in a row that take a replica out, successes in a row that bring it back. */
  readonly fall: number;
  readonly rise: number;
}

export interface ClientFacts {
  readonly group: string;
  /** How the group reaches the service. `forwarder` is a proxy of its own between registry and client. */
  readonly via: 'gateway' | 'registry' | 'forwarder' | 'unknown';
  /** How a registry client chooses: `pick-first`, `round-robin`, `random`. */
  readonly choice?: string;
  readonly service?: string;
  readonly demand?: DemandFacts;
  readonly timeout_ns?: number;
  /** Further tries of a client after the first, and the share of requests that may be tried again, where there is a budget. */
  readonly retries?: number;
  readonly retry_budget?: number;
  /** Ceiling of their first wait before they ask again. */
  readonly back_off_ns?: number;
  /** Its clients stand in this zone and ask replicas of it. */
  readonly zone?: string;
  /** Whether a user keeps the replica that its connection was made to. */
  readonly pinned?: boolean;
  /** Requests on one connection, where it is closed after so many. */
  readonly keep_alive_requests?: number;
  /** Age of a connection from which on it is closed, where it is. */
  readonly keep_alive_ns?: number;
  /** Connections that the group used, and the time from an answer on one of them to its next request: a user who waits for
   * the answer and goes on at once has next to none. Observed, where a log tells connections apart. */
  readonly connections?: number;
  readonly turnaround_p50_ns?: number;
  readonly turnaround_p90_ns?: number;
}

export type DemandFacts =
  | { readonly model: 'closed'; readonly users: number; readonly think_ns: number }
  | { readonly model: 'open'; readonly rate_per_s: number; readonly arrivals: string };

/** A stretch of time with one arrangement: the baseline, or one experiment. Lasts until the next phase or the end. */
export interface PhaseLine {
  readonly kind: 'phase';
  readonly at_ns: number;
  /** Unique in the record: `baseline`, `stop-replica`, … */
  readonly name: string;
  /** Ticks that begin before this are warm-up: kept, not judged. */
  readonly measure_from_ns: number;
  /** Present when this phase is an experiment: what the operator changed, as a sentence and as data. */
  readonly experiment?: ExperimentFacts;
}

/** What an experiment changed. `kind` says which; the other fields are there when they apply. */
export interface ExperimentFacts {
  readonly kind: ExperimentKind;
  /** One sentence in the past tense: "stopped api-2 for 4.00 s". */
  readonly did: string;
  readonly target?: string;
  readonly policy?: string;
  readonly factor?: number;
  readonly replicas?: number;
  /** What the replica that was acted on had then. */
  readonly workers?: number;
  readonly rate_per_s?: number;
  readonly users?: number;
}

export type ExperimentKind =
  /** One replica frozen (SIGSTOP) for a few seconds, then continued. */
  | 'stop-replica'
  /** The same throughput offered as an open constant rate. */
  | 'open-loop'
  /** The same demand under another balancing policy. */
  | 'swap-policy'
  /** Another replica made slower than the suspect. */
  | 'slow-another'
  /** The suspect killed, the rest left as it was. */
  | 'kill-suspect'
  /** More replicas of the same size. */
  | 'scale-out'
  /** The suspect given more workers. */
  | 'scale-up'
  /** Registry clients choose at random. */
  | 'random-choice'
  /** A forwarding proxy put between the clients and the registry's list. */
  | 'through-forwarder'
  /** A fraction of the demand. */
  | 'less-load'
  /** One user visits each replica alone, past the balancer. */
  | 'visit-alone';

/** Something that happened at an instant and that an operator could have seen or did: never an injected fault's truth. */
export interface EventLine {
  readonly kind: 'event';
  readonly at_ns: number;
  /** `replica-stopped`, `replica-continued`, `replica-exited`, `replica-started`; of an autoscaler `scaled` (a service), `replica-added`,
   * `replica-removed`; `gateway-restarted`, `limit-reached`, … */
  readonly event: string;
  readonly target?: string;
  readonly detail?: string;
}

/** One second (or what was left of one) of everything. Means are time-weighted over the span. */
export interface TickLine {
  readonly kind: 'tick';
  readonly at_ns: number;
  readonly span_ns: number;
  readonly phase: string;
  readonly replicas: readonly ReplicaTick[];
  readonly clients: readonly ClientTick[];
  readonly gateway?: GatewayTick;
  /** Connections held beside the requests. */
  readonly held?: readonly HeldTick[];
}

/** Connections of one client group: what was asked at the end of the span against what there was, and what happened in it. */
export interface HeldTick {
  readonly group: string;
  readonly asked: number;
  readonly held: number;
  /** Opened in the span; `new_asked` is how many the dials asked for. */
  readonly opened: number;
  readonly new_asked: number;
  /** Closed by the peer. */
  readonly lost: number;
  readonly errors?: ErrorCounts;
}

/** How many requests went wrong, by kind: `timeout`, `refused`, `reset`, `status-5xx`, … Absent kinds are 0. */
export type ErrorCounts = Readonly<Record<string, number>>;

export interface ReplicaTick {
  readonly id: string;
  /** Requests that this replica answered in the span, as seen by whoever observed it. */
  readonly finished?: number;
  /** Requests handed to it in the span. */
  readonly started?: number;
  readonly errors?: ErrorCounts;
  /** Mean number of requests inside the replica: waiting and being served. */
  readonly in_flight_mean?: number;
  /** Quantiles of the time until the answer, from due time where known. */
  readonly latency?: Quantiles;
  /** Mean number of workers at work; divided by `workers` it is the utilisation. */
  readonly busy_workers_mean?: number;
  readonly queue_mean?: number;
  /** Worker time spent in the span on work that ended in it, and how many pieces of work that was: their ratio is the
   * service time, free of queueing. */
  readonly service_sum_ns?: number;
  readonly service_count?: number;
  /** Time in the span with so many inside that work was surely waiting, and how many finished in that time: their ratio is
   * the time between two answers of a busy replica, 1 ÷ its capacity, as seen from outside. */
  readonly backlogged_ns?: number;
  readonly backlogged_finished?: number;
  readonly cpu_ns?: number;
  readonly throttled_ns?: number;
  readonly throttled_periods?: number;
  /** Whether the balancer gave it requests at the end of the span: false once its health checks have failed. */
  readonly in_rotation?: boolean;
  /** `up`, `down`, `stopped`, `draining`: as the balancer or the operator sees it. */
  readonly state?: string;
}

export interface Quantiles {
  readonly count: number;
  readonly mean_ns: number;
  readonly p50_ns: number;
  readonly p90_ns: number;
  readonly p99_ns: number;
  readonly max_ns: number;
}

export interface ClientTick {
  readonly group: string;
  /** Requests that came due in the span. */
  readonly planned: number;
  readonly sent: number;
  readonly answered: number;
  /** Further tries that its clients made, after failures and timeouts. */
  readonly retries?: number;
  readonly errors?: ErrorCounts;
  /** Time-weighted mean over the span, of requests due and not yet answered. */
  readonly in_flight_mean: number;
  readonly in_flight_min?: number;
  readonly in_flight_max?: number;
  readonly latency?: Quantiles;
  /** How late the generator itself was in sending: the ruler's own error. */
  readonly lag?: Quantiles;
  /** Requests that could not be planned or sent because a limit of the generator was reached. */
  readonly refused?: number;
  /** CPU time of the generating process in the span. */
  readonly cpu_ns?: number;
  /** How many different replicas answered in the span, and how the answers were spread. Keys are replica ids. */
  readonly answered_by?: Readonly<Record<string, number>>;
}

export interface GatewayTick {
  readonly requests?: number;
  /** Further tries that it made itself, at another replica. */
  readonly retries?: number;
  readonly errors?: ErrorCounts;
  readonly in_flight_mean?: number;
  readonly healthy?: number;
  readonly total?: number;
  /** Replicas that were taken out in the span because their health checks failed. */
  readonly ejections?: number;
  readonly cpu_ns?: number;
}

/**
 * Latencies of one phase, of one replica or client group. The counts are those of OpenTelemetry's exponential histogram;
 * requests that had not ended are beside them and enter quantiles as lower bounds. `histogramOfLine` makes it whole again.
 */
export interface HistogramLine extends HistogramFields {
  readonly kind: 'histogram';
  readonly at_ns: number;
  readonly phase: string;
  readonly of: HistogramOf;
}

export interface HistogramOf {
  readonly replica?: string;
  readonly group?: string;
  readonly what: 'latency' | 'service' | 'lag';
}

/** Where every planned request of the phase went. The last six sum to `planned`. */
export interface LedgerLine {
  readonly kind: 'ledger';
  readonly at_ns: number;
  readonly phase: string;
  readonly group: string;
  readonly planned: number;
  readonly answered: number;
  readonly failed: number;
  readonly timed_out: number;
  readonly refused: number;
  readonly in_flight_at_end: number;
  readonly never_sent: number;
}

/** A sentence worth keeping, with whoever said it. */
export interface JournalLine {
  readonly kind: 'journal';
  readonly at_ns: number;
  readonly text: string;
}

/** The diagnosis that was made at the end of the run, as `diagnose` prints it with `--json`. */
export interface VerdictLine {
  readonly kind: 'verdict';
  readonly at_ns: number;
  readonly verdict: unknown;
}

export interface EndLine {
  readonly kind: 'end';
  readonly at_ns: number;
  /** `finished`, `interrupted`, `failed`, or `objective`: one that says `or abort` did not hold. A record without an end was cut off. */
  readonly reason: string;
  readonly detail?: string;
  /** Of imagined time, a hash of everything that happened: equal scenarios, seeds and versions give equal ones, on any machine. */
  readonly digest?: string;
}
