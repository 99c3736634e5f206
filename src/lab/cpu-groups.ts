// CPU quotas by cgroup, version 1 or 2, where this process may write one. The kernel then really throttles: a group that has
// used up its quota in a period of 100 ms stands still until the next, and counts how often and how long.
//
//   <the cpu hierarchy>/…our own group…/plimsoll-TOKEN/api-1
//
// A group is named after the lab's token, and the warden removes it when the lab cannot.

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const periodUs = 100_000;
/** The kernel refuses a quota below a millisecond a period. */
const coresMin = 0.01;

export interface Throttling {
  /** For how long processes of the group were kept from running, summed over processors. */
  readonly throttledNs: number;
  /** In how many periods that happened. */
  readonly throttledPeriods: number;
}

export class CpuGroup {
  readonly path: string;
  readonly #version: 1 | 2;

  /** Makes the group below `parent` with a quota of `cores`. */
  constructor(parent: string, name: string, version: 1 | 2, cores: number) {
    this.path = join(parent, name);
    this.#version = version;
    mkdirSync(this.path);
    const quotaUs = Math.round(Math.max(cores, coresMin) * periodUs);
    if (version === 2) {
      writeFileSync(join(this.path, 'cpu.max'), `${quotaUs} ${periodUs}`);
    } else {
      writeFileSync(join(this.path, 'cpu.cfs_period_us'), String(periodUs));
      writeFileSync(join(this.path, 'cpu.cfs_quota_us'), String(quotaUs));
    }
  }

  /** Moves a process here with all its threads. */
  admit(pid: number): void {
    writeFileSync(join(this.path, 'cgroup.procs'), String(pid));
  }

  throttling(): Throttling {
    return parseCpuStat(readFileSync(join(this.path, 'cpu.stat'), 'utf8'), this.#version);
  }

  /** Its processes must have ended. */
  remove(): void {
    rmdirSync(this.path);
  }
}

/** The lab's own group, without a quota, and what was made below it. */
export class CpuGroups {
  readonly path: string;
  readonly #version: 1 | 2;
  readonly #groups: CpuGroup[] = [];

  constructor(path: string, version: 1 | 2) {
    this.path = path;
    this.#version = version;
  }

  make(name: string, cores: number): CpuGroup {
    const group = new CpuGroup(this.path, name, this.#version, cores);
    this.#groups.push(group);
    return group;
  }

  remove(): void {
    for (const group of this.#groups) group.remove();
    rmdirSync(this.path);
  }
}

/** Makes the lab's group in the first hierarchy that can hold quotas, or says why there is none. */
export function openCpuGroups(token: string, root = '/sys/fs/cgroup'): CpuGroups | string {
  if (process.platform !== 'linux') return `${process.platform} has no cgroups`;
  let reason = 'this system has no CPU controller';
  for (const { parent, version } of cpuGroupParents(readFileSync('/proc/self/cgroup', 'utf8'), root)) {
    if (!existsSync(parent)) continue;
    const path = join(parent, `plimsoll-${token}`);
    try {
      mkdirSync(path);
      if (version === 2) writeFileSync(join(path, 'cgroup.subtree_control'), '+cpu');
      if (existsSync(join(path, version === 2 ? 'cpu.max' : 'cpu.cfs_quota_us'))) {
        goFirst(path, version);
        return new CpuGroups(path, version);
      }
      reason = `${parent} does not hand on the CPU controller`;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    if (existsSync(path)) rmdirSync(path);
  }
  return reason;
}

/** Everything in the group has a quota, and that is to be its limit. Without weight it would have to share a busy machine with whatever
 * else runs there, get less than its quota, and never be stopped by it. Each version's greatest weight. */
function goFirst(path: string, version: 1 | 2): void {
  if (version === 2) writeFileSync(join(path, 'cpu.weight'), '10000');
  else writeFileSync(join(path, 'cpu.shares'), '262144');
}

export interface CpuGroupParent {
  readonly parent: string;
  readonly version: 1 | 2;
}

/** Where a group with a quota might be made, the best first, from the text of `/proc/self/cgroup`. Version 1: below our own
 * group, so that a limit around all of us holds, or at the root of the hierarchy when a container does not show ours.
 * Version 2: a group that holds processes cannot hand a controller on, so the nearest ancestor that does is wanted. */
export function cpuGroupParents(selfCgroup: string, root: string): readonly CpuGroupParent[] {
  const parents: CpuGroupParent[] = [];
  for (const line of selfCgroup.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    if (controllers.split(',').includes('cpu')) {
      parents.push({ parent: resolve(join(root, 'cpu', path)), version: 1 });
      if (path !== '/') parents.push({ parent: join(root, 'cpu'), version: 1 });
    } else if (controllers === '') {
      for (let at = path; ; at = dirname(at)) {
        parents.push({ parent: resolve(join(root, at)), version: 2 });
        if (at === '/') break;
      }
    }
  }
  return parents;
}

/** Version 1 counts nanoseconds in `throttled_time`, version 2 microseconds in `throttled_usec`. */
export function parseCpuStat(text: string, version: 1 | 2): Throttling {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [name, value] = line.split(' ');
    if (name !== undefined && value !== undefined) values.set(name, Number(value));
  }
  return {
    throttledNs: version === 2 ? (values.get('throttled_usec') ?? 0) * 1e3 : (values.get('throttled_time') ?? 0),
    throttledPeriods: values.get('nr_throttled') ?? 0,
  };
}
