// The load generator could not make the load; its result is about itself.

import type { Origin } from '../../../record.ts';
import { percent, say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';
import { isGenerator, type LoadRun, runsOf, serverCpu } from '../view-load.ts';

export const generatorSaturated: DossierTheory = {
  slug: 'generator-saturated',
  title: 'Generator saturated: the result is a lower bound',
  mechanism:
    'A generator that may use only so many users or connections, or so much processor, cannot begin the next request in time. ' +
    'The planned rate is missed, and the rate that was reached says what the generator managed, not what the service can do. ' +
    'Requests that were never sent are in no latency figure.',
  refutedBy: 'A planned rate that was reached, or a tool that sent everything in time and shows the waiting.',
  provedBy:
    'Requests that were dropped or never sent while nearly all users were in use, a generator without processor time, or its own warning.',
  lookAlikes: ['overload-open-loop', 'closed-loop-artifact', 'generator-port-exhaustion'],
  fix: 'Give it users = rate × worst latency × 1.5, or more generators, and run again; until then quote the rate as a lower bound.',
  decidedBy:
    'users in use against users allowed, requests that were dropped, processor time of the generator, and the same of the service',
  explains: [],

  examine(view) {
    const told = view.messagesLike(confession);
    const runs = runsOf(view).filter((run) => run.planned !== undefined || run.dropped !== undefined);
    if (runs.length === 0 && told.length === 0) return undefined;
    const missed = runs.filter((run) => missedBy(run) >= missedMin);
    const run = missed.toSorted((one, other) => missedBy(other) - missedBy(one))[0] ?? runs[0] ?? runsOf(view)[0];
    const full = missed.filter(isFull);
    const dropping = missed.filter((one) => (one.dropped ?? 0) > 0.01 * (one.requests ?? 0) && !hasRoom(one));
    const cpu = generatorCpu(view);
    const strained = cpu !== undefined && cpu.value >= 0.9;
    const server = serverCpu(view);
    const { planned, achieved, allowed } = run ?? {};
    return {
      claims: [
        claim('The planned rate was not reached.', {
          bearing: 'necessary',
          predicted:
            planned === undefined ? 'less than was planned' : `below ${say(planned * (1 - missedMin), 'requests/s')}`,
          refutes: 'the planned rate',
          seen:
            runs.length === 0
              ? undefined
              : {
                  text: runs.map(sayRun).join(', '),
                  holds: missed.length > 0,
                  origins: runs.map((one) => one.origin).slice(0, 4),
                },
          missing: 'the planned rate',
        }),
        claim('Not every request was sent in its time.', {
          bearing: 'necessary',
          predicted: 'waiting that the generator did not count',
          refutes: 'a tool that counts from the planned instant and shows the waiting',
          seen:
            missed.length === 0 || strained || told.length > 0 || !missed.every(sentAll)
              ? undefined
              : { text: 'all were sent, and what waited is in the latency', holds: false },
        }),
        claim('It had no user left to send with.', {
          bearing: 'sufficient',
          predicted:
            allowed === undefined
              ? 'at least 90 % of its users in use'
              : `at least ${Math.ceil(0.9 * allowed)} of ${allowed} users in use`,
          refutes: 'users to spare',
          seen:
            allowed === undefined || run?.used === undefined
              ? undefined
              : {
                  text: (missed.length > 0 ? missed : runs).map(sayUsers).join(', '),
                  holds: full.length > 0,
                },
          missing: 'users in use and users allowed',
        }),
        claim('It dropped what it could not send, and no latency figure has it.', {
          bearing: 'sufficient',
          predicted: 'more than 1 % of the plan dropped',
          refutes: 'nothing dropped',
          seen:
            run?.dropped === undefined
              ? undefined
              : { text: runs.map((one) => percent(droppedShare(one))).join(', '), holds: dropping.length > 0 },
          missing: 'requests that were dropped',
        }),
        claim('The generator had no processor time left.', {
          bearing: 'sufficient',
          predicted: 'above 90 %',
          refutes: 'a generator with time to spare',
          seen: cpu === undefined ? undefined : { text: cpu.text, holds: strained, origins: cpu.origins },
          missing: 'processor time of the generator',
        }),
        claim('It said itself that it was at its limit.', {
          bearing: 'sufficient',
          predicted: 'a warning of the generator about itself',
          refutes: 'none',
          seen:
            told.length === 0
              ? undefined
              : {
                  text: `${told.length} × ${told[0]?.text.slice(0, 100) ?? ''}`,
                  holds: true,
                  origins: told.slice(0, 2).map((one) => one.origin),
                },
          missing: 'the console output of the generator',
        }),
      ],
      culprit: `load generator: ${full.length > 0 || dropping.length > 0 ? 'users (VUs) at their ceiling' : 'no processor time left'} (the limit of the service is undetermined)`,
      sentence:
        `The generator reached ${achieved === undefined ? 'less' : say(achieved, 'requests/s')}${planned === undefined ? '' : ` of ${say(planned, 'requests/s')}`}` +
        `${full.length === 0 ? '' : ` with ${full.map(sayUsers).join(', ')} users in use`}: ` +
        'the service can do at least that, and how much more this run does not say' +
        (server !== undefined && server.value >= 0.9 ? `; the service was near its limit too (${server.text}).` : '.'),
      arithmetic: missed.flatMap((one) =>
        one.planned === undefined || one.achieved === undefined
          ? []
          : [
              `${one.name}: ${say(one.achieved, 'requests/s')} ÷ ${say(one.planned, 'requests/s')} = ${percent(one.achieved / one.planned)}`,
            ],
      ),
    };
  },
};

/** A plan is missed when this part of it was not sent. */
const missedMin = 0.03;

/** What generators say when they cannot go on. */
const confession =
  /insufficient vus, reached|cpu usage (?:above|was too high)|may constrain your throughput|cpu usage of artillery|load generator .{0,40}(?:overloaded|saturated|too slow)|cannot keep up with the (?:requested )?rate/i;

function missedBy(run: LoadRun): number {
  const short = run.planned === undefined || run.achieved === undefined ? 0 : 1 - run.achieved / run.planned;
  return Math.max(droppedShare(run), short);
}

function droppedShare(run: LoadRun): number {
  const { dropped = 0, requests = 0 } = run;
  return dropped === 0 ? 0 : dropped / (dropped + requests);
}

/** It counts from the planned instant, or waited until the last was answered: what was late shows. */
function sentAll(run: LoadRun): boolean {
  return run.uncorrected !== undefined || run.drained;
}

function isFull(run: LoadRun): boolean {
  return run.used !== undefined && run.allowed !== undefined && run.used >= 0.9 * run.allowed && !sentAll(run);
}

/** Users were known and many were not used: then dropping had another reason. */
function hasRoom(run: LoadRun): boolean {
  return run.used !== undefined && run.allowed !== undefined && run.used < 0.8 * run.allowed;
}

function sayRun(run: LoadRun): string {
  const dropped = run.dropped === undefined ? '' : ` (${run.dropped} dropped)`;
  return `${run.achieved === undefined ? 'unknown' : say(run.achieved, 'requests/s')}${dropped}`;
}

function sayUsers(run: LoadRun): string {
  return `${run.used ?? '?'} of ${run.allowed ?? '?'}`;
}

function generatorCpu(view: View): { value: number; text: string; origins: readonly Origin[] } | undefined {
  const found = view.greatest(
    (name, labels) =>
      /cpu\w*(ratio|utili[sz]ation|percent|share|pct)$/.test(name) && isGenerator(`${name} ${JSON.stringify(labels)}`),
  );
  if (found === undefined) return undefined;
  const value = found.value > 1.5 ? found.value / 100 : found.value;
  return { value, text: `${found.name} ${percent(value)}`, origins: found.origins };
}
