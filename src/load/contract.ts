// What the load room promises to whoever conducts a run. The driver may live in this process, in a worker or, later, on
// another machine: everything here is data that could cross a wire.

import type { Duration, Instant } from '../base.ts';
import type { TlsTarget } from '../net.ts';
import type { Choice, ClientRetry, Demand, Dial, KeepAlive, Objective } from '../scenario.ts';
import type { ErrorCounts, HistogramLine, LedgerLine, Quantiles } from '../record.ts';

/** One client group with everything resolved to addresses. */
export interface LoadGroup {
  readonly group: string;
  readonly demand: Demand;
  /** Where its requests may go, in the registry's order. One entry when there is a gateway. */
  readonly targets: readonly LoadTarget[];
  /** How one of several targets is chosen, request by request. */
  readonly choice: Choice;
  /** How long a client waits, from due time. The connection is closed then. */
  readonly timeout: Duration;
  /** Clients ask again after a failure or their timeout, which then holds for each try. Absent: what failed has failed. */
  readonly retry?: ClientRetry;
  /** Each closed user keeps the target that its connection was made to, until that is gone. */
  readonly pinned?: boolean;
  /** When a connection is closed, though it is good. HTTP/1.1 only. Absent: never. */
  readonly keepAlive?: KeepAlive;
  /** Response header that says who answered. Default `x-plimsoll-replica`. */
  readonly replicaHeader?: string;
  /** Cookie that says who answered, as a balancer sets it to find the same replica again. Read instead of the header. */
  readonly replicaCookie?: string;
  /** Open demand only: most connections the group may hold, shared out evenly between several targets (default 10,000). A
   * request beyond it waits, and the wait counts. */
  readonly connectionsMax?: number;
  /** Open demand only: requests that may wait for a connection to one target (default 65,536); the next one is refused. */
  readonly waitingMax?: number;
  /** Open demand only: connections opened before the first request is due (default none). */
  readonly connectionsMin?: number;
  /** Present: HTTP/2 is spoken, agreed on by ALPN with TLS and known beforehand without it. Needs Node's own engine. */
  readonly http2?: {
    /** Requests under way at once on each connection. Of closed users, so many share a connection. */
    readonly streamsMax: number;
  };
}

export interface LoadTarget {
  /** The replica's id where it is known beforehand (registry clients), else the gateway's name. */
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** Present: TLS is spoken, with HTTP/1.1 as the protocol agreed on unless the group says otherwise. */
  readonly tls?: TlsTarget;
}

/** Connections that are opened and kept, besides those that carry requests: three dials that do not know of each other are
 * connections held, new connections a second, and (in the groups) requests a second. */
export interface HeldGroup {
  readonly group: string;
  readonly targets: readonly LoadTarget[];
  /** How many are to be held. */
  readonly held: Dial;
  /** New connections a second once that many are held: each takes the place of the oldest. Default 0. */
  readonly newPerSecond?: Dial;
  /** New connections a second, at most, while fewer are held than should be (default 2,000). */
  readonly rampPerSecond?: number;
  /** Source addresses, used in turn: each has a range of ports of its own. Default: the kernel chooses. */
  readonly localAddresses?: readonly string[];
  readonly connectTimeout?: Duration;
}

export interface LoadPlan {
  readonly groups: readonly LoadGroup[];
  readonly held?: readonly HeldGroup[];
  readonly seed: number;
  readonly objectives?: readonly Objective[];
}

/** What happened since the snapshot before, by group and by replica. Latencies count from due time; every whole answer is
 * one, whatever its status, and what timed out is a lower bound. */
export interface LoadSnapshot {
  readonly at: Instant;
  readonly span: Duration;
  readonly groups: readonly GroupSnapshot[];
  readonly replicas: readonly ReplicaSnapshot[];
  /** CPU time of the generating threads in the span. */
  readonly cpu: Duration;
  /** Present when the plan holds connections. */
  readonly held?: readonly HeldSnapshot[];
  /** Objectives that say `or abort` and do not hold now: whoever conducts the run should end it. Windows are made of snapshots,
   * so take one a second. */
  readonly broken?: readonly ObjectiveResult[];
  /** Present when they were asked for: those of the span, as in the result. */
  readonly histograms?: LoadResult['histograms'];
}

/** Connections of one held group: what was asked at the end of the span against what there is, and what happened in it. */
export interface HeldSnapshot {
  readonly group: string;
  readonly asked: number;
  readonly held: number;
  readonly connecting: number;
  /** Opened in the span; `newAsked` is how many the dials asked for. */
  readonly opened: number;
  readonly newAsked: number;
  /** Attempts that failed, by kind. */
  readonly errors: ErrorCounts;
  /** Closed by the peer. */
  readonly lost: number;
  /** From when a connection was due until it was open. */
  readonly connect: Quantiles | undefined;
}

export interface GroupSnapshot {
  readonly group: string;
  readonly planned: number;
  /** Requests that were sent, however often. */
  readonly sent: number;
  /** Present where clients ask again. */
  readonly tries?: Tries;
  /** Whole answers with a status below 400, as in the ledger. */
  readonly answered: number;
  /** `timeout`, `refused` (by the peer), `reset`, `closed`, `truncated`, `bad-response`, `status-4xx`, `status-5xx`,
   * `connect-timeout`, `unreachable`, `dns`, `tls`, `no-ports`, `no-files`, `no-variable` (a step named a variable that no
   * answer had given), `other`. Of HTTP/2 also `goaway` (the server took its leave and has not looked at the request),
   * `stream-refused` (it has not looked at it and says no more) and `stream-reset` (any other RST_STREAM). */
  readonly errors: ErrorCounts;
  readonly inFlightMean: number;
  readonly inFlightMin: number;
  readonly inFlightMax: number;
  readonly latency: Quantiles | undefined;
  readonly lag: Quantiles | undefined;
  /** Requests that a cap of the generator's own kept from being sent. */
  readonly refused: number;
  /** Closed without an end by `stop`: sent and unanswered, or not even sent. */
  readonly inFlightAtEnd: number;
  readonly neverSent: number;
  /** Bytes of whole answers, heads included. */
  readonly bytes: number;
  /** Whole answers by replica id, those with an error status included; an answer without the header counts for its target. */
  readonly answeredBy: Readonly<Record<string, number>>;
}

export interface ReplicaSnapshot {
  readonly id: string;
  /** Whole answers, whatever their status. Errors without an answer are under the target's id. */
  readonly finished: number;
  readonly errors: ErrorCounts;
  readonly latency: Quantiles | undefined;
}

/** One stretch of load: started once, snapshot as often as wanted, stopped once. */
export interface LoadRun {
  /** Once more after `stop`: what happened while it drained. */
  snapshot(detail?: 'histograms'): LoadSnapshot;
  /** Every request due from now on counts as measured: histograms and ledger begin again (the end of warm-up). What came
   * due before belongs to the warm-up, however late it is answered; the snapshots show both. */
  measure(): void;
  /** Stops sending, waits up to `grace` for answers, then counts the rest as in flight at the end. */
  stop(grace: Duration): Promise<LoadResult>;
}

export interface LoadResult {
  /** How long was measured. */
  readonly span: Duration;
  readonly totals: readonly GroupTotals[];
  readonly replicas: readonly ReplicaTotals[];
  readonly ledgers: readonly Omit<LedgerLine, 'kind' | 'at_ns' | 'phase'>[];
  readonly histograms: readonly Omit<HistogramLine, 'kind' | 'at_ns' | 'phase'>[];
  readonly objectives: readonly ObjectiveResult[];
  /** Present when the plan held connections. */
  readonly held?: readonly HeldResult[];
  /** A limit of this machine or process that was reached, in words; empty when none was. */
  readonly limits: readonly string[];
}

/** Of requests that may be asked more than once. */
export interface Tries {
  /** Sent, first ones included. */
  readonly sent: number;
  /** Further ones that failures and timeouts led to: each a try more, unless the end came before it. */
  readonly retries: number;
}

/** Counts of the measured stretch that a ledger does not have. */
export interface GroupTotals {
  readonly group: string;
  /** Requests, however often each was sent. */
  readonly sent: number;
  /** Present where clients ask again. */
  readonly tries?: Tries;
  /** Bytes of whole answers, heads included. */
  readonly bytes: number;
  readonly errors: ErrorCounts;
}

export interface ReplicaTotals {
  readonly id: string;
  /** Whole answers, whatever their status. */
  readonly finished: number;
  readonly errors: ErrorCounts;
}

/** What a held group came to since `measure`. */
export interface HeldResult {
  readonly group: string;
  /** The most held at once, and how many were open at the end. */
  readonly heldMost: number;
  readonly heldAtEnd: number;
  readonly opened: number;
  readonly lost: number;
  readonly errors: ErrorCounts;
  readonly connect: Quantiles | undefined;
}

export interface ObjectiveResult {
  readonly metric: string;
  readonly expression: string;
  readonly observed: number | undefined;
  readonly met: boolean;
}
