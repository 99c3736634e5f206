import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupLimits } from './cgroup.ts';
import { environmentFrom, environmentOf, type Machine } from './environment.ts';
import type { ReadFile } from './read-file.ts';

const machine: Machine = {
  node: 'v26.10.0',
  platform: 'linux',
  arch: 'x64',
  kernel: '6.1.0',
  cpuModel: 'Example CPU',
  cores: 16,
  memoryBytes: 64e9,
};

const files =
  (texts: Readonly<Record<string, string>>): ReadFile =>
  (path) =>
    texts[path];

const limitsFile = `Limit                     Soft Limit           Hard Limit           Units
Max processes             96365                96365                processes
Max open files            1024                 1048576              files
`;

test('a Linux machine tells its limits', () => {
  const facts = environmentFrom(
    { plimsoll: '0.1.0' },
    machine,
    files({
      '/proc/self/limits': limitsFile,
      '/proc/sys/net/ipv4/ip_local_port_range': '32768\t60999\n',
      '/proc/sys/net/core/somaxconn': '4096\n',
      '/proc/sys/net/ipv4/tcp_max_syn_backlog': '2048\n',
      '/proc/sys/net/netfilter/nf_conntrack_max': '262144\n',
    }),
  );
  assert.deepEqual(facts, {
    plimsoll: '0.1.0',
    node: 'v26.10.0',
    os: 'linux x64',
    kernel: '6.1.0',
    cpu_model: 'Example CPU',
    cores: 16,
    memory_bytes: 64e9,
    limits: {
      open_files: 1024,
      local_ports: '32768-60999',
      listen_backlog: 4096,
      syn_backlog: 2048,
      conntrack_max: 262144,
    },
  });
});

test('a machine without any of those files has none of those facts', () => {
  const { limits, cores } = environmentFrom({ plimsoll: '0.1.0' }, { ...machine, platform: 'darwin' }, files({}));
  assert.deepEqual(limits, {});
  assert.equal(cores, 16);
});

test('a limit without limit is said in that word', () => {
  const text = 'Max open files            unlimited            unlimited            files\n';
  const facts = environmentFrom({ plimsoll: '0.1.0' }, machine, files({ '/proc/self/limits': text }));
  assert.equal(facts.limits['open_files'], 'unlimited');
});

test('in a container of the new kind, the tightest group on the way up counts', () => {
  const read = files({
    '/proc/self/cgroup': '0::/pod/container\n',
    '/sys/fs/cgroup/pod/container/cpu.max': 'max 100000\n',
    '/sys/fs/cgroup/pod/cpu.max': '150000 100000\n',
    '/sys/fs/cgroup/pod/container/memory.max': '2147483648\n',
    '/sys/fs/cgroup/pod/memory.max': '4294967296\n',
    '/sys/fs/cgroup/memory.max': 'max\n',
  });
  assert.deepEqual(cgroupLimits(read), { cores: 1.5, memoryBytes: 2 ** 31 });
  const facts = environmentFrom({ plimsoll: '0.1.0' }, machine, read);
  assert.equal(facts.cores, 1.5);
  assert.equal(facts.memory_bytes, 2 ** 31);
  assert.deepEqual(facts.limits, { cgroup_cores: 1.5, cgroup_memory_bytes: 2 ** 31 });
});

test('in a container of the old kind, each controller has a tree of its own', () => {
  const read = files({
    '/proc/self/cgroup': '4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n',
    '/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us': '-1\n',
    '/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us': '100000\n',
    // The namespace hides our own path; what is mounted at the root is our group.
    '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '50000\n',
    '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    '/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes': '9223372036854771712\n',
    '/sys/fs/cgroup/memory/memory.limit_in_bytes': '1073741824\n',
  });
  assert.deepEqual(cgroupLimits(read), { cores: 0.5, memoryBytes: 2 ** 30 });
});

test('this machine has cores and memory', () => {
  const facts = environmentOf({ plimsoll: '0.1.0' });
  assert.ok(facts.cores > 0);
  assert.ok(facts.memory_bytes > 2 ** 26);
  assert.equal(facts.node, process.version);
});
