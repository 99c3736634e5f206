import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuGroupParents, parseCpuStat } from './cpu-groups.ts';

test('version 1: below our own group, or at the root where a container hides it', () => {
  assert.deepEqual(cpuGroupParents('7:memory:/a\n4:cpu,cpuacct:/docker/f00\n', '/sys/fs/cgroup'), [
    { parent: '/sys/fs/cgroup/cpu/docker/f00', version: 1 },
    { parent: '/sys/fs/cgroup/cpu', version: 1 },
  ]);
});

test('version 2: our own group, then its ancestors up to the root', () => {
  assert.deepEqual(cpuGroupParents('0::/user.slice/user-1000.slice\n', '/sys/fs/cgroup'), [
    { parent: '/sys/fs/cgroup/user.slice/user-1000.slice', version: 2 },
    { parent: '/sys/fs/cgroup/user.slice', version: 2 },
    { parent: '/sys/fs/cgroup', version: 2 },
  ]);
});

test('both versions count the same, in their own units', () => {
  const first = 'nr_periods 31\nnr_throttled 30\nthrottled_time 2161282705\nnr_bursts 0\nburst_time 0\n';
  const second =
    'usage_usec 620000\nuser_usec 1\nsystem_usec 2\nnr_periods 31\nnr_throttled 30\nthrottled_usec 2161282\n';
  assert.deepEqual(parseCpuStat(first, 1), { throttledNs: 2161282705, throttledPeriods: 30 });
  assert.deepEqual(parseCpuStat(second, 2), { throttledNs: 2161282000, throttledPeriods: 30 });
});
