// The load generator has no source port left; the errors are its own.

import type { Origin } from '../../../record.ts';
import { say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';
import { type LoadRun, runsOf } from '../view-load.ts';
import { portsOf } from '../view-ports.ts';
import { timeWaitSeconds } from '../view-kernel.ts';

export const generatorPortExhaustion: DossierTheory = {
  slug: 'generator-port-exhaustion',
  title: 'The load generator ran out of source ports',
  mechanism:
    'Without reuse every request is a new connection, whose source port stays taken for 60 s after the end. One generator can ' +
    'make ports × targets ÷ 60 s of them a second; everything beyond fails on the generator, before a packet is sent, and looks like ' +
    'a limit of the service.',
  refutedBy: 'Errors that the service counted as well, or reuse of connections.',
  provedBy: 'Local errors for want of an address, and successes at the rate that the ports allow.',
  lookAlikes: ['proxy-port-exhaustion', 'generator-saturated', 'a capacity of the service', 'conntrack-full'],
  fix: 'Reuse connections, or more source addresses or generators, a wider range of ports, tcp_tw_reuse.',
  decidedBy: 'the generator’s own error text, its sockets in TIME_WAIT, and what the service counted',
  explains: ['overload-open-loop', 'generator-saturated', 'retry-storm'],

  examine(view) {
    const ports = portsOf(view);
    const { range, said, timeWait } = ports;
    const runs = runsOf(view);
    const reuse = view.setting('load.reuses-connections');
    if (said.who === 'proxy' || (runs.length === 0 && said.who !== 'generator' && reuse === undefined))
      return undefined;
    if (said.count === 0 && reuse?.value !== false) return undefined;
    const run = runs.toSorted((one, other) => (other.failed ?? 0) - (one.failed ?? 0))[0];
    const success = run === undefined ? undefined : successesOf(run);
    const served = servedOf(view);
    const many = timeWait === undefined ? undefined : timeWait.value / range.ports;
    // Errors name the targets; where they do not, the number of sockets does.
    const targets =
      said.count > 0 && ports.targets > 1 ? ports.targets : Math.max(ports.targets, Math.round(many ?? 1));
    const ceiling = (range.ports * targets) / timeWaitSeconds;
    return {
      claims: [
        claim('Connections were not reused.', {
          bearing: 'necessary',
          predicted: 'a new connection for every request',
          refutes: 'reuse',
          seen:
            reuse === undefined
              ? undefined
              : { text: `reuse ${String(reuse.value)}`, holds: reuse.value === false, origins: [reuse.origin] },
          missing: 'whether the generator reuses connections',
        }),
        claim('The errors are the generator’s own: no address to connect from.', {
          bearing: 'sufficient',
          predicted: 'EADDRNOTAVAIL of the generator',
          refutes: 'errors of the service',
          seen:
            said.count === 0
              ? undefined
              : { text: `${said.count} such errors`, holds: said.who === 'generator', origins: said.origins },
          missing: 'the generator’s error text',
        }),
        claim('What succeeded came at the rate that the ports allow.', {
          bearing: 'supporting',
          predicted: `${range.ports} × ${targets} ÷ ${timeWaitSeconds} s = ${say(ceiling, 'requests/s')}, within 10 %`,
          refutes: 'another rate',
          seen:
            success === undefined
              ? undefined
              : {
                  text: say(success, 'requests/s'),
                  holds: Math.abs(success - ceiling) <= 0.1 * ceiling,
                  origins: run === undefined ? [] : [run.origin],
                },
          missing: 'successes and the length of the run',
        }),
        claim('The generator’s ports wait to be free again.', {
          bearing: 'supporting',
          predicted: `about ${range.ports * targets} in TIME_WAIT`,
          refutes: 'few',
          seen:
            timeWait === undefined
              ? undefined
              : {
                  text: String(timeWait.value),
                  holds: timeWait.value >= 0.9 * range.ports * targets,
                  origins: timeWait.origins,
                },
          missing: 'sockets in TIME_WAIT on the generator (ss -s)',
        }),
        claim('The service counted the successes only, and no errors.', {
          bearing: 'necessary',
          predicted:
            run?.requests === undefined
              ? 'successes only'
              : `${(run.requests - (run.failed ?? 0)).toFixed(0)}, within 5 %`,
          refutes: 'errors of the service, or more requests than succeeded',
          seen:
            served === undefined || run?.requests === undefined || run.failed === undefined
              ? undefined
              : {
                  text: `${served.good} served, ${served.bad} errors`,
                  holds: served.bad <= 0.02 * run.failed && served.good <= 1.05 * (run.requests - run.failed),
                  origins: served.origins,
                },
          missing: 'what the service counted in the same time',
        }),
      ],
      culprit: `load generator: no connection reuse, ${range.ports} ports, ${timeWaitSeconds} s TIME_WAIT`,
      sentence: `The generator can make ${ceiling.toFixed(0)} new connections a second to ${targets === 1 ? 'one address' : `${targets} addresses`}; what it tries beyond that fails on its own side, and the service never sees it.`,
      arithmetic: [`${range.ports} × ${targets} ÷ ${timeWaitSeconds} s = ${say(ceiling, 'requests/s')}`],
    };
  },
};

function successesOf(run: LoadRun): number | undefined {
  if (run.requests === undefined || run.failed === undefined) return undefined;
  const seconds =
    run.seconds ?? (run.achieved === undefined || run.achieved === 0 ? undefined : run.requests / run.achieved);
  return seconds === undefined ? undefined : (run.requests - run.failed) / seconds;
}

function servedOf(view: View): { good: number; bad: number; origins: readonly Origin[] } | undefined {
  const coded = view.dossier.samples.filter(
    ({ name, labels }) =>
      /requests?_total$|responses?_total$/.test(name) && (labels['code'] ?? labels['status']) !== undefined,
  );
  if (coded.length === 0) return undefined;
  const sum = (bad: boolean): number =>
    coded
      .filter(({ labels }) => (labels['code'] ?? labels['status'] ?? '').startsWith('5') === bad)
      .reduce((whole, one) => whole + one.value, 0);
  return { good: sum(false), bad: sum(true), origins: coded.slice(0, 2).map((one) => one.origin) };
}
