// Diagnosis of a gateway that serves users: watch, say what would decide, ask, do it for a few seconds, put it back, judge again.
//
//   watch ─► verdict, proposals ─► asked? ─► change ─► watch ─► undo ─► verdict
//                                     │ no                 │ errors rise, or an abort
//                                     └─► end              └─► undo at once
//
// Whatever happens between the change and the end of its time, what was changed is put back; a failure to do so is the one thing that
// is thrown, with the command that would.

import { type Diagnosis, diagnose } from '../../diagnose.ts';
import { type RecordLine, recordOf, type RunRecord } from '../../record.ts';
import { type Proposal, proposalsFor } from './proposals.ts';
import type { EndpointCounts, LiveTarget } from './target.ts';

export interface LiveOptions {
  readonly target: LiveTarget;
  readonly id: string;
  /** RFC 3339. */
  readonly startedAt: string;
  /** Our own version, for the header. */
  readonly plimsoll: string;
  readonly watchSeconds: number;
  readonly experimentSeconds: number;
  /** Closed users, where the operator knows them. */
  readonly users?: number;
  /** Waits one second, or less when aborted; seconds since the beginning. */
  readonly tick: () => Promise<number>;
  /** Asked before anything is touched, once for each proposal. */
  readonly confirm: (proposal: Proposal) => Promise<boolean>;
  readonly announce: (sentence: string) => void;
  readonly stop: AbortSignal;
}

export interface LiveResult {
  readonly diagnosis: Diagnosis;
  readonly record: RunRecord;
  /** The record as it would be written. */
  readonly lines: readonly RecordLine[];
  readonly proposals: readonly Proposal[];
  readonly done: readonly string[];
}

/** Errors beyond the usual share that end an experiment. */
const errorsMore = 0.02;

export async function conductLive(options: LiveOptions): Promise<LiveResult> {
  const { target, announce } = options;
  const policy = await target.policy();
  const first = await target.scrape();
  if (first.length === 0)
    throw new Error(`${target.name}: no endpoints in its metrics; expected the admin API of a plimsoll gateway`);
  const lines: RecordLine[] = opening(options, policy, first);
  const phases: { readonly errors: number }[] = [
    await watch(options, lines, 'baseline', options.watchSeconds, undefined),
  ];
  const proposals = proposalsFor(recordOf(lines), policy, first.length);
  const done: string[] = [];
  for (const proposal of proposals) {
    if (options.stop.aborted) break;
    if (!(await options.confirm(proposal))) continue;
    announce(`${proposal.does}, for ${options.experimentSeconds} s`);
    const usual = phases[0]?.errors ?? 0;
    const { errors, ended } = await experiment(options, lines, proposal, policy, usual);
    phases.push({ errors });
    done.push(`${proposal.does}; ${ended}; ${proposal.undoes}`);
    announce(`undone: ${proposal.undoes}${ended === 'to its end' ? '' : ` (${ended})`}`);
  }
  lines.push({ kind: 'end', at_ns: lastEnd(lines), reason: options.stop.aborted ? 'interrupted' : 'finished' });
  const record = recordOf(lines);
  return { diagnosis: diagnose(record), record, lines, proposals, done };
}

async function experiment(
  options: LiveOptions,
  lines: RecordLine[],
  { experiment: facts }: Proposal,
  policy: string,
  usual: number,
): Promise<{ errors: number; ended: string }> {
  const { target } = options;
  const weight =
    facts.kind === 'kill-suspect' && facts.target !== undefined ? await target.weightOf(facts.target) : undefined;
  const undo = async (): Promise<void> => {
    if (weight === undefined) await target.setPolicy(policy);
    else await target.setWeight(facts.target ?? '', weight);
  };
  try {
    if (weight === undefined) await target.setPolicy(facts.policy ?? 'least-request');
    else await target.setWeight(facts.target ?? '', 0);
    const { tellsFrom: _, ...told } = facts;
    return await watch(options, lines, facts.kind, options.experimentSeconds, {
      experiment: told,
      errorsMax: usual + errorsMore,
    });
  } finally {
    await undo().catch((error: unknown) => {
      const by =
        weight === undefined
          ? `POST /policy {"policy":"${policy}"}`
          : `POST /endpoints/${facts.target}/weight {"weight":${weight}}`;
      throw new Error(
        `could not be undone: ${error instanceof Error ? error.message : String(error)}; do it by hand: ${by}`,
      );
    });
  }
}

interface Bounds {
  readonly experiment: Extract<RecordLine, { kind: 'phase' }>['experiment'];
  /** Share of requests; beyond it the phase ends at once. */
  readonly errorsMax: number;
}

/** Scrapes second by second into the record. The first second of an experiment is its warm-up. */
async function watch(
  { target, tick, stop, users }: LiveOptions,
  lines: RecordLine[],
  name: string,
  seconds: number,
  bounds: Bounds | undefined,
): Promise<{ errors: number; ended: string }> {
  const from = lastEnd(lines);
  lines.push({
    kind: 'phase',
    at_ns: from,
    name,
    measure_from_ns: from + (bounds === undefined ? 0 : 1e9),
    ...(bounds?.experiment === undefined ? {} : { experiment: bounds.experiment }),
  });
  let before = await target.scrape();
  let beganAt = await tick();
  const begin = beganAt;
  let [requests, errors] = [0, 0];
  while (beganAt - begin < seconds && !stop.aborted) {
    const at = await tick();
    const after = await target.scrape();
    const span = Math.max(1e-3, at - beganAt);
    lines.push(tickOf(name, lastEnd(lines), span, before, after, users));
    for (const [index, one] of after.entries()) {
      requests += one.requests - (before[index]?.requests ?? one.requests);
      errors += one.errors - (before[index]?.errors ?? one.errors);
    }
    [before, beganAt] = [after, at];
    const share = requests === 0 ? 0 : errors / requests;
    if (bounds !== undefined && requests >= 20 && share > bounds.errorsMax) {
      return { errors: share, ended: `ended early: ${(100 * share).toFixed(1)} % of the requests failed` };
    }
  }
  return { errors: requests === 0 ? 0 : errors / requests, ended: stop.aborted ? 'ended by you' : 'to its end' };
}

function tickOf(
  phase: string,
  at_ns: number,
  span: number,
  before: readonly EndpointCounts[],
  after: readonly EndpointCounts[],
  users: number | undefined,
): RecordLine {
  const replicas = after.map((one) => {
    const earlier = before.find(({ id }) => id === one.id) ?? one;
    const finished = Math.max(0, one.requests - earlier.requests);
    const failed = Math.max(0, one.errors - earlier.errors);
    return {
      id: one.id,
      finished,
      started: finished,
      in_flight_mean: Math.max(0, one.inFlightSeconds - earlier.inFlightSeconds) / span,
      in_rotation: one.healthy,
      ...(failed === 0 ? {} : { errors: { 'status-5xx': failed } }),
    };
  });
  const sum = (of: (one: (typeof replicas)[number]) => number): number =>
    replicas.reduce((all, one) => all + of(one), 0);
  const all = sum((one) => one.finished);
  const clients =
    users === undefined
      ? []
      : [
          {
            group: 'clients',
            planned: all,
            sent: all,
            answered: all,
            in_flight_mean: sum((one) => one.in_flight_mean),
          },
        ];
  return { kind: 'tick', at_ns, span_ns: Math.round(span * 1e9), phase, replicas, clients };
}

function lastEnd(lines: readonly RecordLine[]): number {
  const last = lines.findLast((line) => line.kind === 'tick');
  return last?.kind === 'tick' ? last.at_ns + last.span_ns : 0;
}

function opening(options: LiveOptions, policy: string, endpoints: readonly EndpointCounts[]): RecordLine[] {
  const { target, id, startedAt, users } = options;
  return [
    {
      kind: 'header',
      format: 'plimsoll-record',
      version: 1,
      id,
      started_at: startedAt,
      world: 'live',
      scenario: target.name,
      environment: { plimsoll: options.plimsoll },
    },
    {
      kind: 'topology',
      at_ns: 0,
      services: [{ name: 'service', role: 'service', replicas: endpoints.map((one) => ({ id: one.id })) }],
      gateway: { program: 'plimsoll', policy },
      clients: [
        {
          group: 'clients',
          via: 'gateway',
          service: 'service',
          ...(users === undefined ? {} : { demand: { model: 'closed' as const, users, think_ns: 0 } }),
        },
      ],
    },
  ];
}
