// A load on a service that is there as a record, the same that the lab and the simulator leave, so that whatever explains runs can read
// it. Only what the clients saw is in it: there are no workers, no queues and no processor times of replicas.
//
// What was in flight at a replica nobody outside can see. By Little's law it is the time that its answers of a second took, from
// sending, divided by the second: exact over a run, and within a second off by what began before it or ended after.
//
// The topology comes first in a record, and the replicas are known when they have answered: both are written with the first second.

import { inSeconds, ns } from '../../base.ts';
import { environmentOf } from '../../host.ts';
import {
  type ClientFacts,
  type DemandFacts,
  type Quantiles,
  type RecordLine,
  recordVersion,
  type TickLine,
} from '../../record.ts';
import { type Demand, distributionMean } from '../../scenario.ts';
import type { LoadGroup, LoadPlan, LoadResult, LoadSnapshot } from '../contract.ts';

export interface LoadRecordSetting {
  readonly plan: LoadPlan;
  /** What was loaded. */
  readonly where: string;
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  /** Of this program. */
  readonly version: string;
}

const phase = 'baseline';

export class LoadRecord {
  readonly #setting: LoadRecordSetting;
  readonly #tell: (line: RecordLine) => void;
  #begun = false;
  #elapsed = ns(0);

  constructor(setting: LoadRecordSetting, tell: (line: RecordLine) => void) {
    this.#setting = setting;
    this.#tell = tell;
  }

  /** One more second, taken with its histograms. */
  second(snapshot: LoadSnapshot): void {
    if (!this.#begun) this.#begin(snapshot);
    const at_ns = this.#elapsed;
    this.#elapsed = ns(at_ns + snapshot.span);
    if (snapshot.span > 0) this.#tell(tickOf(snapshot, at_ns));
  }

  end(result: LoadResult, reason: 'finished' | 'objective'): void {
    const at_ns = this.#elapsed;
    for (const histogram of result.histograms) this.#tell({ kind: 'histogram', at_ns, phase, ...histogram });
    for (const ledger of result.ledgers) this.#tell({ kind: 'ledger', at_ns, phase, ...ledger });
    for (const detail of result.limits) this.#tell({ kind: 'event', at_ns, event: 'limit-reached', detail });
    this.#tell({ kind: 'end', at_ns, reason });
  }

  #begin(snapshot: LoadSnapshot): void {
    this.#begun = true;
    const { plan, where, startedAt, version } = this.#setting;
    this.#tell({
      kind: 'header',
      format: 'plimsoll-record',
      version: recordVersion,
      id: `${startedAt.replaceAll(/[-:]/g, '').slice(0, 15)}-load`,
      started_at: startedAt,
      world: 'live',
      scenario: where,
      seed: plan.seed,
      environment: environmentOf({ plimsoll: version }),
    });
    const replicas = snapshot.replicas
      .map(({ id }) => ({ id }))
      .toSorted((one, other) => one.id.localeCompare(other.id, 'en', { numeric: true }));
    this.#tell({
      kind: 'topology',
      at_ns: 0,
      services: [{ name: 'service', role: 'service', replicas }],
      clients: plan.groups.map((group): ClientFacts => ({
        group: group.group,
        via: 'unknown',
        service: 'service',
        demand: demandFacts(group.demand),
        timeout_ns: group.timeout,
        ...retryFacts(group),
      })),
    });
    this.#tell({ kind: 'phase', at_ns: 0, name: phase, measure_from_ns: 0 });
  }
}

const retryFacts = ({ retry }: LoadGroup): Pick<ClientFacts, 'retries' | 'retry_budget' | 'back_off_ns'> =>
  retry === undefined
    ? {}
    : {
        retries: retry.retries,
        back_off_ns: retry.backOff,
        ...(retry.budget === undefined ? {} : { retry_budget: retry.budget }),
      };

const demandFacts = (demand: Demand): DemandFacts =>
  demand.kind === 'closed'
    ? { model: 'closed', users: demand.users, think_ns: distributionMean(demand.think) }
    : { model: 'open', rate_per_s: demand.ratePerSecond, arrivals: demand.arrivals };

function tickOf(snapshot: LoadSnapshot, at_ns: number): TickLine {
  return {
    kind: 'tick',
    at_ns,
    span_ns: snapshot.span,
    phase,
    replicas: snapshot.replicas.map(({ id, finished, errors, latency }) => ({
      id,
      finished,
      in_flight_mean: serviceSeconds(snapshot, id) / inSeconds(snapshot.span),
      ...unlessEmpty('errors', errors),
      ...(latency === undefined ? {} : { latency }),
    })),
    clients: snapshot.groups.map((group, index) => ({
      group: group.group,
      planned: group.planned,
      sent: group.sent,
      answered: group.answered,
      ...(group.tries === undefined ? {} : { retries: group.tries.retries }),
      in_flight_mean: group.inFlightMean,
      in_flight_min: group.inFlightMin,
      in_flight_max: group.inFlightMax,
      answered_by: group.answeredBy,
      ...unlessEmpty('errors', group.errors),
      ...quantiles('latency', group.latency),
      ...quantiles('lag', group.lag),
      ...(group.refused === 0 ? {} : { refused: group.refused }),
      ...(index === 0 ? { cpu_ns: snapshot.cpu } : {}),
    })),
  };
}

/** Time from sending to the answer, of all answers of one replica together. */
function serviceSeconds({ histograms = [] }: LoadSnapshot, id: string): number {
  const line = histograms.find(({ of }) => of.replica === id && of.what === 'service');
  return inSeconds(ns(line?.sum_ns ?? 0));
}

const unlessEmpty = (key: 'errors', counts: Readonly<Record<string, number>>) =>
  Object.keys(counts).length === 0 ? {} : { [key]: counts };

const quantiles = (key: 'latency' | 'lag', value: Quantiles | undefined) =>
  value === undefined ? {} : { [key]: value };
