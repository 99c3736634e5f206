// Whatever becomes of the runner, nothing of its lab may be left: not a stopped process, not a cgroup.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ms, seconds } from '../base.ts';
import type { Topology } from '../scenario.ts';
import type { LabOptions } from './contract.ts';
import { LabError } from './lab-error.ts';
import { startLab } from './start-lab.ts';

const noProc = !existsSync('/proc/self/environ');

/** Numbers of living processes that have `PLIMSOLL_LAB=token` in their environment. */
function carriers(token: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => environmentOf(name).includes(`PLIMSOLL_LAB=${token}`))
    .map(Number);
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}

function tokenOf(pid: number): string {
  const line = environmentOf(String(pid)).find((one) => one.startsWith('PLIMSOLL_LAB='));
  return line?.slice('PLIMSOLL_LAB='.length) ?? assert.fail(`${pid} carries a token`);
}

/** Folders of the lab's control groups that a process of it is in; none where no quota could be set. */
function cgroupsOf(pid: number, token: string): string[] {
  const paths = readFileSync(`/proc/${pid}/cgroup`, 'latin1')
    .split('\n')
    .map((line) => line.split(':')[2] ?? '')
    .filter((path) => path.includes(token));
  return paths
    .flatMap((path) => [join('/sys/fs/cgroup/cpu', path), join('/sys/fs/cgroup', path)])
    .filter((path) => existsSync(path))
    .flatMap((path) => [path, dirname(path)]);
}

interface Doomed {
  readonly runner: ChildProcess;
  readonly token: string;
  readonly cgroups: readonly string[];
}

/** A runner in a process of its own, with a lab that is up: two replicas, one of them stopped, the warden, and a gateway when
 * one is named. */
async function doomed(context: TestContext, gateway: 'haproxy' | 'nginx' | 'none' = 'none'): Promise<Doomed> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-doomed-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const program = join(import.meta.dirname, 'fixtures', 'doomed-runner.ts');
  const runner = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, folder, gateway], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => runner.kill('SIGKILL'));
  const line = await new Promise<string>((resolve) => runner.stdout?.once('data', (data) => resolve(String(data))));
  const pids: unknown = JSON.parse(line);
  if (!Array.isArray(pids)) assert.fail(line);
  const token = tokenOf(Number(pids[0]));
  assert.equal(carriers(token).length, gateway === 'none' ? 3 : 4);
  return { runner, token, cgroups: pids.flatMap((pid) => cgroupsOf(Number(pid), token)) };
}

/** Within five seconds no process has the token any more, and no control group is left. */
async function goneWithin5s({ token, cgroups }: Doomed): Promise<void> {
  const deadline = performance.now() + 5000;
  const left = (): readonly (number | string)[] => [...carriers(token), ...cgroups.filter((path) => existsSync(path))];
  while (left().length > 0) {
    assert.ok(performance.now() < deadline, `left: ${left().join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const gateway of ['haproxy', 'nginx'] as const) {
  const skip = noProc || !existsSync(`/usr/sbin/${gateway}`);
  test(
    `${gateway}, which does not know who started it, does not outlive a killed runner`,
    { skip },
    async (context) => {
      const lab = await doomed(context, gateway);
      lab.runner.kill('SIGKILL');
      await goneWithin5s(lab);
    },
  );
}

for (const signal of ['SIGKILL', 'SIGINT'] as const) {
  test(
    `a runner that dies of ${signal} leaves nothing behind, stopped replicas included`,
    { skip: noProc },
    async (context) => {
      const lab = await doomed(context);
      lab.runner.kill(signal);
      await goneWithin5s(lab);
    },
  );
}

test('a Ctrl-C in the terminal reaches the runner alone', { skip: noProc }, async (context) => {
  const lab = await doomed(context);
  const session = sessionOf(lab.runner.pid ?? 0);
  for (const pid of carriers(lab.token)) {
    assert.equal(sessionOf(pid), pid, 'each process of the lab has a session of its own');
    assert.notEqual(sessionOf(pid), session);
  }
});

function sessionOf(pid: number): number {
  return Number(statOf(pid)[3]);
}

/** The fields of /proc/PID/stat from the state on, counted from behind the name in parentheses: state, parent, group, session. */
function statOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

const topology: Topology = {
  services: [
    {
      name: 'api',
      replicas: 2,
      workers: 4,
      serviceTime: { kind: 'constant', value: ms(5) },
      cpuTime: { kind: 'constant', value: ms(0) },
      queue: { limit: 100, abandoned: 'served' },
      cpuQuota: undefined,
      calls: [],
      healthSharesPool: true,
    },
  ],
  dependencies: [],
  gateway: { policy: 'random', timeout: seconds(5), connectTimeout: seconds(1), retries: 0, health: undefined },
  clients: [{ name: 'users', service: 'api', via: 'gateway', choice: 'random', timeout: seconds(5) }],
};

function optionsIn(context: TestContext, gatewayCommand: readonly string[]): LabOptions {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-lab-'));
  context.after(() => rmSync(folder, { recursive: true }));
  return { topology, seed: 1, gateway: 'plimsoll', gatewayCommand, folder, onEvent: () => {} };
}

for (const [what, command, says] of [
  [
    'ends at once',
    ['/bin/sh', '-c', 'echo no such policy >&2; exit 3'],
    /it ended with code 3\n {2}gateway: no such policy\n/,
  ],
  ['is not there', ['/nowhere/gateway'], /it could not be started: .*ENOENT/],
  ['says something else', ['/bin/sh', '-c', 'echo hello; sleep 60'], /it said "hello" instead of a ready line/],
] as const) {
  test(
    `a start that fails because the gateway ${what} says so and leaves nothing behind`,
    { skip: noProc },
    async (context) => {
      await assert.rejects(startLab(optionsIn(context, command)), (error: unknown) => {
        assert.ok(error instanceof LabError);
        assert.match(error.message, /^gateway did not start: /);
        assert.match(error.message, says);
        assert.match(error.message, new RegExp(`command: ${command[0]}`));
        return true;
      });
      assert.deepEqual(ownChildren(), []);
    },
  );
}

/** Processes whose parent is this one. */
function ownChildren(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)[1] === String(process.pid));
}
