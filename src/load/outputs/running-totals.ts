// What a run has come to so far, for whoever asks while it goes on: counts that only grow, as Prometheus and OpenTelemetry want
// them, and histograms of everything. A request of the warm-up that is answered after it is in here, and not in the result.

import { assert, type Duration, ns } from '../../base.ts';
import { Histogram, histogramOfFields } from '../../stats.ts';
import type { GroupSnapshot, LoadResult, LoadSnapshot, Tries } from '../contract.ts';

/** In the words of the ledger. */
export interface GroupRunning {
  planned: number;
  sent: number;
  /** Undefined where clients do not ask again. */
  tries: Tries | undefined;
  answered: number;
  failed: number;
  timedOut: number;
  refused: number;
  inFlightAtEnd: number;
  neverSent: number;
  bytes: number;
  /** Mean over the last second. */
  inFlight: number;
  /** By kind; what timed out is among them. */
  readonly errors: Map<string, number>;
  readonly latency: Histogram;
  readonly service: Histogram;
  readonly lag: Histogram;
}

export interface ReplicaRunning {
  /** Whole answers, whatever their status. */
  answers: number;
  readonly errors: Map<string, number>;
  readonly latency: Histogram;
}

export interface HeldRunning {
  asked: number;
  held: number;
  opened: number;
  lost: number;
}

export class RunningTotals {
  readonly groups = new Map<string, GroupRunning>();
  readonly replicas = new Map<string, ReplicaRunning>();
  readonly held = new Map<string, HeldRunning>();
  /** CPU time of the generating threads. */
  cpu: Duration = ns(0);

  /** `groups` are there from the beginning, with nothing counted. */
  constructor(groups: readonly string[] = []) {
    for (const group of groups) this.#group(group);
  }

  /** One more second; it was taken with its histograms. */
  add(snapshot: LoadSnapshot): void {
    this.cpu = ns(this.cpu + snapshot.cpu);
    for (const group of snapshot.groups) addGroup(this.#group(group.group), group);
    for (const { id, finished, errors } of snapshot.replicas) {
      const replica = this.#replica(id);
      replica.answers += finished;
      addErrors(replica.errors, errors);
    }
    for (const { group, asked, held, opened, lost } of snapshot.held ?? []) {
      const before = this.held.get(group);
      this.held.set(group, { asked, held, opened: (before?.opened ?? 0) + opened, lost: (before?.lost ?? 0) + lost });
    }
    this.#addHistograms(snapshot.histograms ?? []);
  }

  #addHistograms(lines: LoadResult['histograms']): void {
    for (const { of, ...fields } of lines) {
      const histogram = histogramOfFields(fields);
      assert(histogram instanceof Histogram, 'a snapshot has whole histograms');
      if (of.group !== undefined) {
        const group = this.#group(of.group);
        if (of.what === 'latency' || of.what === 'service' || of.what === 'lag') group[of.what].add(histogram);
      } else if (of.replica !== undefined && of.what === 'latency') this.#replica(of.replica).latency.add(histogram);
    }
  }

  #group(name: string): GroupRunning {
    const known = this.groups.get(name);
    if (known !== undefined) return known;
    const fresh = newGroup();
    this.groups.set(name, fresh);
    return fresh;
  }

  #replica(id: string): ReplicaRunning {
    const known = this.replicas.get(id);
    if (known !== undefined) return known;
    const fresh = { answers: 0, errors: new Map<string, number>(), latency: new Histogram() };
    this.replicas.set(id, fresh);
    return fresh;
  }
}

function newGroup(): GroupRunning {
  return {
    planned: 0,
    sent: 0,
    tries: undefined,
    answered: 0,
    failed: 0,
    timedOut: 0,
    refused: 0,
    inFlightAtEnd: 0,
    neverSent: 0,
    bytes: 0,
    inFlight: 0,
    errors: new Map(),
    latency: new Histogram(),
    service: new Histogram(),
    lag: new Histogram(),
  };
}

function addGroup(into: GroupRunning, second: GroupSnapshot): void {
  into.planned += second.planned;
  into.sent += second.sent;
  if (second.tries !== undefined) into.tries = withTries(into.tries, second.tries);
  into.answered += second.answered;
  into.failed += failedIn(second);
  into.timedOut += second.errors['timeout'] ?? 0;
  into.refused += second.refused;
  into.inFlightAtEnd += second.inFlightAtEnd;
  into.neverSent += second.neverSent;
  into.bytes += second.bytes;
  into.inFlight = second.inFlightMean;
  addErrors(into.errors, second.errors);
}

const withTries = (before: Tries | undefined, { sent, retries }: Tries): Tries => ({
  sent: (before?.sent ?? 0) + sent,
  retries: (before?.retries ?? 0) + retries,
});

/** What failed, as the ledger has it: a timeout has a place of its own. */
export const failedIn = ({ errors }: Pick<GroupSnapshot, 'errors'>): number =>
  Object.entries(errors).reduce((sum, [kind, count]) => (kind === 'timeout' ? sum : sum + count), 0);

function addErrors(into: Map<string, number>, errors: Readonly<Record<string, number>>): void {
  for (const [kind, count] of Object.entries(errors)) into.set(kind, (into.get(kind) ?? 0) + count);
}
