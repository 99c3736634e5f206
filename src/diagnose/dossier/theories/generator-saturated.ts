// The load generator could not make the load; its result is about itself.

import { percent, say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';
import { growthOfCounter } from '../view-kernel.ts';
import { isGenerator, type LoadRun, runsOf, serverCpu } from '../view-load.ts';

export const generatorSaturated: DossierTheory = {
  slug: 'generator-saturated',
  title: 'Generator saturated: the result is a lower bound',
  mechanism:
    'A generator that may use only so many users or connections, or so much processor, cannot begin the next request in time. ' +
    'The planned rate is missed, and the rate that was reached says what the generator managed, not what the service can do. ' +
    'Requests that were never sent are in no latency figure.',
  refutedBy: 'A planned rate that was reached, or users to spare.',
  provedBy:
    'Requests that were dropped or never sent while nearly all users were in use, or a generator without processor time.',
  lookAlikes: ['overload-open-loop', 'closed-loop-artifact', 'generator-port-exhaustion'],
  fix: 'Give it users = rate × worst latency × 1.5, or more generators, and run again; until then quote the rate as a lower bound.',
  decidedBy:
    'users in use against users allowed, requests that were dropped, processor time of the generator, and the same of the service',
  explains: [],

  examine(view) {
    const runs = runsOf(view).filter((run) => run.planned !== undefined || run.dropped !== undefined);
    const cpu = generatorCpu(view);
    const missed = runs.filter((run) => missedBy(run) >= 0.03);
    if (runs.length === 0) return undefined;
    const [worst] = missed.toSorted((one, other) => missedBy(other) - missedBy(one));
    const run = worst ?? runs[0];
    if (run === undefined) return undefined;
    const limited = missed.filter((one) => isFull(one));
    const behind = run.uncorrected;
    const server = serverCpu(view);
    const shares = limited.map((one) => `${one.used} of ${one.allowed}`);
    return {
      claims: [
        claim('The planned rate was not reached.', {
          bearing: 'necessary',
          predicted:
            run.planned === undefined ? 'less than was planned' : `below ${say(run.planned * 0.97, 'requests/s')}`,
          refutes: 'the planned rate',
          seen: {
            text: runs
              .map(
                (one) =>
                  `${say(one.achieved ?? 0, 'requests/s')}${one.dropped === undefined ? '' : ` (${one.dropped} dropped)`}`,
              )
              .join(', '),
            holds: missed.length > 0,
            origins: runs.map((one) => one.origin).slice(0, 4),
          },
        }),
        claim('It had no user left to send with.', {
          bearing: 'sufficient',
          predicted:
            run.allowed === undefined
              ? 'at least 90 % of its users in use'
              : `at least ${Math.ceil(0.9 * run.allowed)} of ${run.allowed} users in use`,
          refutes: 'users to spare',
          seen:
            run.allowed === undefined || run.used === undefined || behind !== undefined
              ? undefined
              : {
                  text:
                    missed.map((one) => `${one.used} of ${one.allowed}`).join(', ') || `${run.used} of ${run.allowed}`,
                  holds: limited.length > 0,
                },
          missing: 'users in use and users allowed',
        }),
        claim('It dropped what it could not send, and no latency figure has it.', {
          bearing: 'sufficient',
          predicted: 'at least 1 % of the plan dropped',
          refutes: 'nothing dropped',
          seen:
            run.dropped === undefined
              ? undefined
              : {
                  text:
                    missed
                      .map((one) => percent((one.dropped ?? 0) / ((one.dropped ?? 0) + (one.requests ?? 0))))
                      .join(', ') || 'nothing',
                  holds: missed.some((one) => (one.dropped ?? 0) > 0.01 * (one.requests ?? 0)) && !hasRoom(run),
                },
          missing: 'requests that were dropped',
        }),
        claim('The generator had no processor time left.', {
          bearing: 'sufficient',
          predicted: 'above 90 %',
          refutes: 'a generator with time to spare',
          seen: cpu === undefined ? undefined : { text: cpu.text, holds: cpu.value >= 0.9, origins: cpu.origins },
          missing: 'processor time of the generator',
        }),
        claim('Every request was sent in its time.', {
          bearing: 'necessary',
          predicted: 'waiting that the generator itself did not count',
          refutes: 'a tool that counts from the planned instant and shows the waiting',
          seen:
            behind === undefined
              ? undefined
              : { text: 'it counts from the planned instant: what was late is in its figures', holds: false },
        }),
      ],
      culprit: 'load generator: users at their ceiling (the limit of the service is undetermined)',
      sentence:
        `The generator reached ${say(run.achieved ?? 0, 'requests/s')}${run.planned === undefined ? '' : ` of ${say(run.planned, 'requests/s')}`} with ${shares.join(', ') || 'its'} users in use: ` +
        'the service can do at least that, and how much more this run does not say' +
        (server !== undefined && server.value >= 0.9 ? `; the service was near its limit too (${server.text}).` : '.'),
      arithmetic: missed.flatMap((one) =>
        one.planned === undefined
          ? []
          : [
              `${one.name}: ${say(one.achieved ?? 0, 'requests/s')} ÷ ${say(one.planned, 'requests/s')} = ${percent((one.achieved ?? 0) / one.planned)}`,
            ],
      ),
    };
  },
};

/** Part of the plan that was not sent, 0–1. */
function missedBy(run: LoadRun): number {
  const dropped =
    run.dropped === undefined || run.requests === undefined ? 0 : run.dropped / (run.dropped + run.requests);
  const short = run.planned === undefined || run.achieved === undefined ? 0 : 1 - run.achieved / run.planned;
  return Math.max(dropped, short);
}

function isFull(run: LoadRun): boolean {
  return run.used !== undefined && run.allowed !== undefined && run.used >= 0.9 * run.allowed;
}

/** Users were known and many were not used: then dropping had another reason. */
function hasRoom(run: LoadRun): boolean {
  return run.used !== undefined && run.allowed !== undefined && run.used < 0.8 * run.allowed;
}

function generatorCpu(
  view: View,
): { value: number; text: string; origins: readonly { file: string; line?: number }[] } | undefined {
  const found = view.greatest(
    (name, labels) =>
      /cpu\w*(ratio|utili[sz]ation|percent|share|pct)$/.test(name) && isGenerator(`${name} ${JSON.stringify(labels)}`),
  );
  if (found === undefined) {
    const lag = growthOfCounter(view, /generatorlag|schedulerlag/);
    return lag === undefined ? undefined : { value: lag.value > 1 ? 1 : 0, text: lag.text, origins: lag.origins };
  }
  const value = found.value > 1.5 ? found.value / 100 : found.value;
  return { value, text: `${found.name} ${percent(value)}`, origins: found.origins };
}
