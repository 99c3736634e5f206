// A run in imagined time, as a conductor would do it: the baseline, then what the diagnosis asks for, one change at a time.
// What comes out are lines of a record, and nothing in them says what was made slow.

import { assert } from '../../base.ts';
import type {
  ClientTick,
  DemandFacts,
  EventLine,
  ExperimentFacts,
  ExperimentKind,
  PhaseLine,
  RecordLine,
  TopologyLine,
} from '../../record.ts';
import { recordOf } from '../../record.ts';
import { type Diagnosis, diagnose } from '../diagnose.ts';
import { planExperiments } from '../plan.ts';
import { type FleetSpec, playStretch, type Stretch } from './fleet.ts';

export interface RunSpec {
  readonly fleet: FleetSpec;
  readonly seed: number;
  readonly via?: 'gateway' | 'registry';
  /** Which experiments can be done; empty: the baseline only. */
  readonly available?: readonly ExperimentKind[];
  readonly warmUpSeconds?: number;
  readonly seconds?: number;
}

export const allExperiments: readonly ExperimentKind[] = [
  'stop-replica',
  'open-loop',
  'swap-policy',
  'slow-another',
  'kill-suspect',
  'scale-out',
  'scale-up',
  'random-choice',
  'through-forwarder',
  'less-load',
  'visit-alone',
];

/** `count` replicas of four workers and 20 ms, one of them slower by `factor`. */
export function replicas(count: number, slow?: string, factor = 1): FleetSpec['replicas'] {
  return Array.from({ length: count }, (_, index) => {
    const id = `api-${index + 1}`;
    return { id, workers: 4, serviceSeconds: id === slow ? 0.02 * factor : 0.02 };
  });
}

/** Plays the run and returns its record's lines. */
export function linesOf(spec: RunSpec): RecordLine[] {
  const { fleet, seed, available = [], warmUpSeconds = 5, seconds = 16 } = spec;
  const lines: RecordLine[] = [
    {
      kind: 'header',
      format: 'plimsoll-record',
      version: 1,
      id: `imagined-${seed}`,
      started_at: '2026-01-01T00:00:00Z',
      world: 'sim',
      scenario: 'imagined',
      seed,
      environment: { plimsoll: '0' },
    },
    topologyOf(spec),
  ];
  let clock = play(
    lines,
    fleet,
    { phase: 'baseline', fromSecond: 0, seconds: warmUpSeconds + seconds },
    warmUpSeconds,
    seed,
  );
  if (available.length === 0) return lines;
  for (const facts of planExperiments(recordOf(lines), available)) {
    const { fleet: arrangedFleet, stretch, warmUp } = arranged(fleet, facts, clock);
    clock = play(lines, arrangedFleet, stretch, warmUp, seed, facts);
  }
  return lines;
}

/** The diagnosis of the run. */
export function diagnosisOf(spec: RunSpec): Diagnosis {
  return diagnose(recordOf(linesOf(spec)));
}

/** What a balancer's access log of the same baseline would hold: answers, failures, times and what is in flight, but no
 * workers, no worker times, no client settings, and nothing of the experiments. */
export function asForeign(
  lines: readonly RecordLine[],
  keep: { readonly policy: boolean; readonly started: boolean },
): RecordLine[] {
  return lines.flatMap((line): RecordLine[] => {
    switch (line.kind) {
      case 'header':
        return [{ ...line, world: 'foreign' }];
      case 'topology': {
        const service = line.services[0];
        const gateway = keep.policy ? line.gateway : undefined;
        const found: TopologyLine = {
          kind: 'topology',
          at_ns: 0,
          services: [{ name: 'api', role: 'service', replicas: (service?.replicas ?? []).map(({ id }) => ({ id })) }],
          ...(gateway === undefined ? {} : { gateway }),
          clients: [{ group: 'clients', via: keep.policy ? 'gateway' : 'unknown', service: 'api' }],
        };
        return [found];
      }
      case 'phase':
        return line.name === 'baseline' ? [line] : [];
      case 'tick':
        if (line.phase !== 'baseline') return [];
        return [
          {
            ...line,
            replicas: line.replicas.map(({ id, finished, started, errors, latency, in_flight_mean }) => ({
              id,
              ...(finished === undefined ? {} : { finished }),
              ...(started === undefined || !keep.started ? {} : { started }),
              ...(errors === undefined ? {} : { errors }),
              ...(latency === undefined ? {} : { latency }),
              ...(in_flight_mean === undefined ? {} : { in_flight_mean }),
            })),
            clients: line.clients.map(logged),
          },
        ];
      default:
        return [];
    }
  });
}

function logged({ planned, sent, answered, errors, in_flight_mean, latency, answered_by }: ClientTick): ClientTick {
  return {
    group: 'clients',
    planned,
    sent,
    answered,
    in_flight_mean,
    ...(errors === undefined ? {} : { errors }),
    ...(latency === undefined ? {} : { latency }),
    ...(answered_by === undefined ? {} : { answered_by }),
  };
}

function topologyOf({ fleet, via = 'gateway' }: RunSpec): TopologyLine {
  const demand: DemandFacts =
    fleet.demand.model === 'closed'
      ? { model: 'closed', users: fleet.demand.users, think_ns: fleet.demand.thinkSeconds * 1e9 }
      : { model: 'open', rate_per_s: fleet.demand.ratePerSecond, arrivals: fleet.demand.arrivals };
  return {
    kind: 'topology',
    at_ns: 0,
    services: [{ name: 'api', role: 'service', replicas: fleet.replicas.map(({ id, workers }) => ({ id, workers })) }],
    ...(via === 'gateway' ? { gateway: { program: 'plimsoll', policy: fleet.choice } } : {}),
    clients: [{ group: 'users', via, service: 'api', demand, ...(via === 'registry' ? { choice: fleet.choice } : {}) }],
  };
}

function play(
  lines: RecordLine[],
  fleet: FleetSpec,
  stretch: Stretch,
  warmUp: number,
  seed: number,
  experiment?: ExperimentFacts,
): number {
  const at = (second: number): number => Math.round((stretch.fromSecond + second) * 1e9);
  const phase: PhaseLine = {
    kind: 'phase',
    at_ns: at(0),
    name: stretch.phase,
    measure_from_ns: at(warmUp),
    ...(experiment === undefined ? {} : { experiment }),
  };
  const { frozen } = stretch;
  const events: EventLine[] =
    frozen === undefined
      ? []
      : [
          { kind: 'event', at_ns: at(frozen.from), event: 'replica-stopped', target: frozen.replica },
          { kind: 'event', at_ns: at(frozen.to), event: 'replica-continued', target: frozen.replica },
        ];
  lines.push(phase, ...events, ...playStretch(fleet, stretch, seed));
  return stretch.fromSecond + stretch.seconds;
}

/** The baseline's fleet with the one thing changed, and for how long. */
function arranged(
  fleet: FleetSpec,
  facts: ExperimentFacts,
  fromSecond: number,
): { readonly fleet: FleetSpec; readonly stretch: Stretch; readonly warmUp: number } {
  const phase = facts.kind;
  const stretch = (seconds: number): Stretch => ({ phase, fromSecond, seconds });
  const target = facts.target ?? '';
  switch (facts.kind) {
    case 'stop-replica':
      return { fleet, stretch: { ...stretch(8), frozen: { replica: target, from: 4, to: 8 } }, warmUp: 2 };
    case 'open-loop':
      assert(facts.rate_per_s !== undefined, 'an open loop has a rate');
      return {
        fleet: { ...fleet, demand: { model: 'open', ratePerSecond: facts.rate_per_s, arrivals: 'constant' } },
        stretch: stretch(11),
        warmUp: 3,
      };
    case 'swap-policy':
      return { fleet: { ...fleet, choice: 'least-request' }, stretch: stretch(10), warmUp: 2 };
    case 'slow-another':
      return { fleet: changed(fleet, target, { slower: facts.factor ?? 1.5 }), stretch: stretch(11), warmUp: 4 };
    case 'kill-suspect':
      return { fleet, stretch: { ...stretch(10), killed: target }, warmUp: 3 };
    case 'scale-out':
      return { fleet: grown(fleet, facts.replicas ?? 8), stretch: stretch(10), warmUp: 3 };
    case 'scale-up':
      return { fleet: changed(fleet, target, { workers: facts.workers ?? 8 }), stretch: stretch(10), warmUp: 3 };
    case 'random-choice':
      return { fleet: { ...fleet, choice: 'random' }, stretch: stretch(9), warmUp: 2 };
    case 'through-forwarder':
      return { fleet: { ...fleet, choice: 'round-robin' }, stretch: stretch(9), warmUp: 2 };
    case 'less-load':
      return { fleet: { ...fleet, demand: less(fleet.demand, facts.factor ?? 0.5) }, stretch: stretch(10), warmUp: 3 };
    case 'visit-alone':
      return { fleet, stretch: { ...stretch(5), visitAlone: true }, warmUp: 1 };
  }
}

function changed(fleet: FleetSpec, id: string, change: { slower?: number; workers?: number }): FleetSpec {
  return {
    ...fleet,
    replicas: fleet.replicas.map((replica) =>
      replica.id === id
        ? {
            ...replica,
            serviceSeconds: replica.serviceSeconds * (change.slower ?? 1),
            workers: change.workers ?? replica.workers,
          }
        : replica,
    ),
  };
}

function grown(fleet: FleetSpec, count: number): FleetSpec {
  const more = replicas(count).slice(fleet.replicas.length);
  return { ...fleet, replicas: [...fleet.replicas, ...more] };
}

function less(demand: FleetSpec['demand'], factor: number): FleetSpec['demand'] {
  return demand.model === 'closed'
    ? { ...demand, users: Math.max(1, Math.round(demand.users * factor)) }
    : { ...demand, ratePerSecond: demand.ratePerSecond * factor };
}
