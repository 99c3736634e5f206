// What the control groups around a process allow it. A limit holds for everything below it, so the least on the way from the
// process's own group up to the root is the one that counts. Both versions of the interface are read, because a machine may
// have the old one, the new one, or some controllers in each.
//
//   /proc/self/cgroup   "0::/a/b"           version 2, and   "4:memory:/a/b"   version 1, by controller
//   limits              /sys/fs/cgroup/a/b/cpu.max           /sys/fs/cgroup/memory/a/b/memory.limit_in_bytes

import { type ReadFile } from './read-file.ts';

export interface CgroupLimits {
  /** Quota of processor time, in cores. */
  readonly cores: number | undefined;
  readonly memoryBytes: number | undefined;
}

const root = '/sys/fs/cgroup';

export function cgroupLimits(read: ReadFile): CgroupLimits {
  const groups = read('/proc/self/cgroup') ?? '';
  const cores: number[] = [];
  const memory: number[] = [];
  for (const line of groups.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const names = controllers.split(',');
    for (const group of upwards(path)) {
      if (controllers === '') {
        cores.push(...coresOfMax(read(`${root}${group}/cpu.max`)));
        memory.push(...bytesOf(read(`${root}${group}/memory.max`)));
      }
      if (names.includes('cpu')) {
        const at = `${root}/cpu${group}`;
        cores.push(...coresOfQuota(read(`${at}/cpu.cfs_quota_us`), read(`${at}/cpu.cfs_period_us`)));
      }
      if (names.includes('memory')) memory.push(...bytesOf(read(`${root}/memory${group}/memory.limit_in_bytes`)));
    }
  }
  return { cores: least(cores), memoryBytes: least(memory) };
}

/** `/a/b`, `/a`, and the root as an empty string. Inside a container the path may not be there; its root always is. */
function upwards(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return [...parts.map((_, index) => `/${parts.slice(0, parts.length - index).join('/')}`), ''];
}

/** `150000 100000`: 1.5 cores; `max 100000`: no limit. */
function coresOfMax(text: string | undefined): readonly number[] {
  const [quota, period] = (text ?? '').trim().split(' ').map(Number);
  return quota !== undefined && period !== undefined && quota > 0 && period > 0 ? [quota / period] : [];
}

/** A quota of −1 is no limit. */
function coresOfQuota(quotaText: string | undefined, periodText: string | undefined): readonly number[] {
  const [quota, period] = [Number(quotaText), Number(periodText)];
  return quota > 0 && period > 0 ? [quota / period] : [];
}

/** Version 1 says "no limit" with a number near 2^63, version 2 with the word `max`. */
function bytesOf(text: string | undefined): readonly number[] {
  const bytes = Number(text?.trim() ?? 'max');
  return bytes > 0 && bytes < 2 ** 60 ? [bytes] : [];
}

const least = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.min(...values);
