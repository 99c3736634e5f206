// What is legal in a scenario and probably not meant. Warnings, each with its place and its reason; the run goes on.

import { type Duration, formatDuration, ns } from '../base.ts';
import type { Call, Scenario } from './model.ts';
import type { Path, Problem } from './problem.ts';
import type { Source } from './source.ts';

export function advise({ topology, demand, faults }: Scenario, source: Source): Problem[] {
  const advice: Problem[] = [];
  const { gateway, services, clients, dependencies } = topology;
  for (const group of clients) {
    if (gateway !== undefined && group.via === 'gateway' && gateway.timeout >= group.timeout) {
      const message = `the gateway's timeout ${formatDuration(gateway.timeout)} is not below the clients' ${formatDuration(group.timeout)}: the clients give up first and never see its answer`;
      advice.push(source.at(['clients', group.name], message));
    }
    if (!demand.some((each) => each.clients === group.name)) {
      advice.push(source.atKey(['clients', group.name], `no demand is made by ${group.name}`));
    }
  }
  if (gateway?.health !== undefined && gateway.health.timeout >= gateway.health.interval) {
    const message = 'a check may still be running when the next is due: a timeout below the interval avoids that';
    advice.push(source.at(['gateway', 'health', 'timeout'], message));
  }
  for (const { name, autoscale } of services) {
    if (autoscale !== undefined && autoscale.target * (1 + autoscale.tolerance) >= 1) {
      const message = `full replicas exceed the target of ${Math.round(100 * autoscale.target)} % by less than the tolerance: they are never given company`;
      advice.push(source.at(['services', name, 'autoscale', 'target'], message));
    }
  }
  for (const service of services) {
    for (const [index, call] of service.calls.entries()) {
      const path: Path = ['services', service.name, 'calls', index];
      const whole = longest(call);
      if (whole === undefined) {
        const message = `the call to ${call.to} has no timeout: when ${call.to} stalls, it holds every worker`;
        advice.push(source.at(path, message));
      } else if (gateway !== undefined && whole >= gateway.timeout) {
        const message = `all attempts of the call to ${call.to} may take ${formatDuration(whole)}, which is not below the gateway's timeout ${formatDuration(gateway.timeout)}`;
        advice.push(source.at(path, message));
      }
    }
  }
  for (const { name, cpuScheduling, cpuTime } of services) {
    if (cpuScheduling === 'shared' && cpuTime.kind === 'constant' && cpuTime.value === 0) {
      const message = `requests of ${name} share a processor and need none of it: cpu_time says how much each needs`;
      advice.push(source.atKey(['services', name, 'cpu_scheduling'], message));
    }
  }
  for (const { name } of dependencies) {
    if (!services.some((service) => service.calls.some((call) => call.to === name))) {
      advice.push(source.atKey(['dependencies', name], `no service calls ${name}`));
    }
  }
  for (const [index, fault] of faults.entries()) {
    if (fault.kind === 'slow' && fault.factor === 1) {
      advice.push(source.at(['faults', index, 'slow', 'factor'], 'a factor of 1 changes nothing'));
    }
  }
  return advice;
}

/** What all tries of a call and the waits between them may take together: a wait is at most 2^n − 1 times the back-off before try n
 * after the first. Undefined where a try may take for ever. */
function longest({ timeout, retries, backOff = ns(0) }: Call): Duration | undefined {
  if (timeout === undefined) return undefined;
  const waits = backOff * (2 ** (retries + 1) - 2 - retries);
  return ns(timeout * (1 + retries) + waits);
}
