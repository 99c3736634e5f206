// What this computer is and allows: everything that could explain why the same test gives another number elsewhere. Every
// single fact may be missing (another system, a container that hides it), and is then absent.
//
// Names and units are those of a record's header, where this goes.

import { arch, availableParallelism, cpus, release, totalmem } from 'node:os';
import { cgroupLimits } from './cgroup.ts';
import { type ReadFile, readSystemFile } from './read-file.ts';

export interface MachineFacts {
  readonly plimsoll: string;
  readonly node: string;
  readonly os: string;
  readonly kernel: string;
  readonly cpu_model?: string;
  /** That may be used at once: affinity and quotas count, so it may be a fraction. */
  readonly cores: number;
  /** That may be used. */
  readonly memory_bytes: number;
  readonly limits: Readonly<Record<string, number | string>>;
}

/** What the operating system says without a file. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  readonly kernel: string;
  readonly cpuModel: string | undefined;
  readonly cores: number;
  readonly memoryBytes: number;
}

export function environmentOf(us: { readonly plimsoll: string }): MachineFacts {
  const machine: Machine = {
    node: process.version,
    platform: process.platform,
    arch: arch(),
    kernel: release(),
    cpuModel: cpus()[0]?.model.trim(),
    cores: availableParallelism(),
    memoryBytes: totalmem(),
  };
  return environmentFrom(us, machine, readSystemFile);
}

/** The same from given facts and files: what a machine that is not at hand would say. */
export function environmentFrom(us: { readonly plimsoll: string }, machine: Machine, read: ReadFile): MachineFacts {
  const cgroup = cgroupLimits(read);
  return {
    plimsoll: us.plimsoll,
    node: machine.node,
    os: `${machine.platform} ${machine.arch}`,
    kernel: machine.kernel,
    ...(machine.cpuModel === undefined || machine.cpuModel === '' ? {} : { cpu_model: machine.cpuModel }),
    cores: Math.min(machine.cores, cgroup.cores ?? Infinity),
    memory_bytes: Math.min(machine.memoryBytes, cgroup.memoryBytes ?? Infinity),
    limits: present({
      open_files: openFiles(read),
      local_ports: portRange(read('/proc/sys/net/ipv4/ip_local_port_range')),
      listen_backlog: numberIn(read('/proc/sys/net/core/somaxconn')),
      syn_backlog: numberIn(read('/proc/sys/net/ipv4/tcp_max_syn_backlog')),
      conntrack_max: numberIn(read('/proc/sys/net/netfilter/nf_conntrack_max')),
      cgroup_cores: cgroup.cores,
      cgroup_memory_bytes: cgroup.memoryBytes,
    }),
  };
}

/** The soft limit: the one that a process meets. `unlimited` is said in that word. */
function openFiles(read: ReadFile): number | string | undefined {
  const [, soft] = /^Max open files\s+(\S+)/m.exec(read('/proc/self/limits') ?? '') ?? [];
  return soft === undefined || soft === 'unlimited' ? soft : numberIn(soft);
}

/** `32768-60999`, both ends included: 28,232 connections from one address to one address and port. */
function portRange(text: string | undefined): string | undefined {
  const [, first, last] = /^(\d+)\s+(\d+)/.exec(text ?? '') ?? [];
  return first === undefined ? undefined : `${first}-${last}`;
}

function numberIn(text: string | undefined): number | undefined {
  const [digits] = /\d+/.exec(text ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function present(limits: Readonly<Record<string, number | string | undefined>>): Record<string, number | string> {
  const found: Record<string, number | string> = {};
  for (const [name, limit] of Object.entries(limits)) if (limit !== undefined) found[name] = limit;
  return found;
}
