import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import type { HeldGroup, LoadGroup } from './contract.ts';
import { machineLimits } from './machine-limits.ts';
import { type MachineLimits, preflight, type Shortage } from './preflight.ts';
import { constant } from '../scenario.ts';

const roomy: MachineLimits = {
  openFiles: 20_000,
  localPorts: { first: 32_768, last: 60_999 },
  timeWait: 0,
  conntrackMax: 262_144,
  conntrackCount: 0,
  listenBacklog: 4096,
  addresses: ['10.0.0.5'],
};
const flow = [{ method: 'GET', path: '/', headers: {}, body: undefined }];
const targets = [{ id: 'gateway', host: '10.0.0.1', port: 80 }];
const users = (count: number, think = ms(1000)): LoadGroup => ({
  group: 'shop',
  demand: { kind: 'closed', clients: 'shop', users: count, flow, think: constant(think) },
  targets,
  choice: 'round-robin',
  timeout: seconds(2),
});
const arrivals = (ratePerSecond: number, change: Partial<LoadGroup> = {}): LoadGroup => ({
  ...users(1),
  demand: { kind: 'open', clients: 'shop', ratePerSecond, arrivals: 'constant', flow },
  ...change,
});
const held = (count: number, change: Partial<HeldGroup> = {}): HeldGroup => ({
  group: 'idle',
  targets,
  held: { from: count },
  ...change,
});

interface Case {
  readonly groups?: readonly LoadGroup[];
  readonly held?: readonly HeldGroup[];
  readonly machine?: Partial<MachineLimits>;
}

/** What fits, but only by walking through used ports. */
const slow = ['ports', 'costly', /the kernel finds [\d,]+ of [\d,]+ local ports at once and walks/] as const;

function check(
  { groups = [], held: idle = [], machine = {} }: Case,
  ...expected: readonly (readonly [Shortage['of'], Shortage['when'], RegExp])[]
): void {
  const found = preflight({ groups, held: idle, seed: 1 }, { ...roomy, ...machine });
  assert.deepEqual(
    found.map(({ of, when }) => [of, when]),
    expected.map(([of, when]) => [of, when]),
    JSON.stringify(found),
  );
  expected.forEach(([, , pattern], index) => assert.match(found[index]?.message ?? '', pattern));
}

test('the last connection that fits is no shortage, and the first that does not is', () => {
  check({ groups: [users(19_936)] }, slow);
  check(
    { groups: [users(19_937)] },
    [
      'files',
      'sure',
      /19,937 connections .* may have 20,000: raise ulimit -n to 20,001, or share the load between 2 processes/,
    ],
    slow,
  );
});

test('one source to one target has as many connections as the range has ports', () => {
  const machine = { openFiles: 1_000_000 };
  check({ held: [held(28_232)], machine }, slow);
  check({ held: [held(28_233)], machine }, [
    'ports',
    'sure',
    /28,233 connections to 10\.0\.0\.1:80 .* there are 28,232 \(32768-60999\): use 2 source or target addresses/,
  ]);
});

test('up to half of the range connects are quick, and beyond it they are not', () => {
  check({ held: [held(14_116)] });
  check({ held: [held(14_117)] }, slow);
});

test('two targets have a range each, and two groups to one target share it', () => {
  const machine = { openFiles: 1_000_000 };
  const two = [...targets, { id: 'other', host: '10.0.0.2', port: 80 }];
  check({ held: [held(28_000, { targets: two })], machine });
  check({ held: [held(56_000, { targets: two })], machine }, slow, slow);
  check({ groups: [users(10_000)], held: [held(20_000)], machine }, ['ports', 'sure', /30,000 connections to/]);
});

test('source addresses that we bind have a range each for all targets together', () => {
  const machine = { openFiles: 1_000_000, addresses: ['10.0.0.5', '10.0.0.6'] };
  const two = [...targets, { id: 'other', host: '10.0.0.2', port: 80 }];
  const localAddresses = ['10.0.0.5', '10.0.0.6'];
  check({ held: [held(14_116, { targets: two, localAddresses })], machine });
  check({ held: [held(14_117, { targets: two, localAddresses })], machine }, slow);
  check({ held: [held(56_464, { targets: two, localAddresses })], machine }, slow);
  check({ held: [held(56_466, { targets: two, localAddresses })], machine }, [
    'ports',
    'sure',
    /from 2 source addresses have 56,464 local ports: give 3/,
  ]);
});

test('an open demand needs rate × timeout connections when the service stops answering', () => {
  check({ groups: [arrivals(9_000)] });
  check({ groups: [arrivals(20_000, { connectionsMax: 30_000 })], machine: { openFiles: 100_000 } }, [
    'ports',
    'if-slow',
    /^if the service stops answering, 30,000 connections/,
  ]);
});

test('new connections a second leave ports in TIME_WAIT, and the sustainable rate is told', () => {
  check({ held: [held(1_000, { newPerSecond: { from: 400 } })] });
  check({ held: [held(1_000, { newPerSecond: { from: 500 } })] }, [
    'time-wait',
    'sure',
    /500 new .* 30,000 ports .* 453 a second can be kept up; for more use 2 source/,
  ]);
});

test('the connection tracking table counts what is in it already', () => {
  const machine = { conntrackCount: 262_000 };
  check({ groups: [users(144)], machine });
  check({ groups: [users(145)], machine }, ['conntrack', 'sure', /144 of 262,144 are free/]);
  assert.deepEqual(preflight({ groups: [users(145)], seed: 1 }, {}), []);
});

test("more connections at once than a local listener's backlog are told", () => {
  const here = [{ id: 'gateway', host: '127.0.0.1', port: 80 }];
  check({ groups: [{ ...users(5_000, ms(0)), targets: here }] }, [
    'backlog',
    'sure',
    /5,000 connections .* 127\.0\.0\.1:80 at once, and a listener lets at most 4,096 wait/,
  ]);
  check({ groups: [{ ...users(5_000, ms(100)), targets: here }] });
  check({ groups: [users(5_000, ms(0))] });
});

test('a source address that nobody has is told', () => {
  check({ held: [held(10, { localAddresses: ['10.0.0.5', '127.0.0.9', '192.0.2.1'] })] }, [
    'address',
    'sure',
    /source address 192\.0\.2\.1: there are 10\.0\.0\.5/,
  ]);
});

test('this machine can be read', { skip: process.platform !== 'linux' }, () => {
  const limits = machineLimits();
  assert.ok((limits.openFiles ?? 0) > 0);
  assert.ok(limits.localPorts !== undefined && limits.localPorts.last > limits.localPorts.first);
});
