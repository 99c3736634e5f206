import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ms, seconds } from '../base.ts';
import { baselineOf, type Distribution, type Scenario } from '../scenario.ts';
import { binomialAtMost } from '../stats.ts';
import { meanLatencyOf, measuredRun, replicaOf, replicated, scenarioFrom } from './measured-run.ts';
import { cell } from './cells.ts';
import { Network } from './network.ts';
import { Simulation } from './simulation.ts';

interface End {
  readonly kind: string;
  readonly dueAt: number;
  /** Nanoseconds. */
  readonly latency: number;
}

/** Plays the baseline to its end, and tells how each request ended, in the order in which they came due. */
function played(scenario: Scenario, seed = 1): { readonly ends: readonly End[]; readonly simulation: Simulation } {
  const simulation = new Simulation(scenario, { seed, tick: seconds(1e6) });
  const ends: End[] = [];
  simulation.world.books.listener = (_group, _station, kind, dueAt, now) =>
    ends.push({ kind, dueAt, latency: now - dueAt });
  for (const line of simulation.play(baselineOf(scenario))) void line;
  return { ends: ends.toSorted((one, other) => one.dueAt - other.dueAt), simulation };
}

const queue = (network: string, more = '', rate = 800): Scenario =>
  scenarioFrom(`plimsoll: 1
services: { q: { replicas: 1, workers: 1, service_time: exponential 1ms, queue: { limit: 1000000 } } }
${network}
${more}
demand: [{ open: { rate: ${rate}/s, arrivals: poisson } }]
warm_up: 2s
duration: 20s
`);

// Delay.

test('M/M/1 behind a constant delay d: every single sojourn is longer by 2d, and by 4d through a gateway', () => {
  const { ends: near } = played(queue(''));
  for (const [more, ways] of [
    ['', 2],
    ['gateway: {}', 4],
  ] as const) {
    const { ends: far } = played(queue('network: { delay: constant 3ms }', more));
    assert.equal(far.length, near.length);
    for (const [index, { latency }] of far.entries()) assert.equal(latency, (near[index]?.latency ?? 0) + ways * 3e6);
  }
});

test('M/M/1 behind a random delay: on average W and two delays, in the interval of ten runs', () => {
  const scenario = queue('network: { delay: exponential 3ms }');
  const interval = replicated(10, (seed) => meanLatencyOf(measuredRun(scenario, seed)));
  assert.ok(interval.low <= 11 && interval.high >= 11, `${interval.low} to ${interval.high} ms, theory 5 + 6`);
  assert.ok(interval.high - interval.low < 1.5);
});

test('a request on its way is in flight at the client, at the gateway once it is there, and at no replica', () => {
  const run = measuredRun(queue('network: { delay: constant 10ms }', 'gateway: {}', 500), 1);
  const length = run.tick.span_ns / 1e9;
  const rate = run.clients.planned / length;
  const inside = replicaOf(run, 'q-1').in_flight_mean ?? 0;
  // Little's law; what is cut off at the edges of the run is 20 ms of a minute.
  const isNear = (found: number, expected: number): void =>
    assert.ok(Math.abs(found / expected - 1) < 0.002, `${found}, not ${expected}`);
  isNear(run.tick.gateway?.in_flight_mean ?? 0, inside + rate * 0.02);
  isNear(run.clients.in_flight_mean, inside + rate * 0.04);
});

test('between zones it takes as long as is said; who stands nowhere is near everybody', () => {
  const latencies = (clients: string): number => {
    const { ends } = played(
      scenarioFrom(`plimsoll: 1
services: { q: { replicas: 1, workers: 100, service_time: constant 1ms, zones: [east], calls: [{ to: store }] } }
dependencies: { store: { workers: 100, service_time: constant 1ms, zone: west } }
network: { delay: constant 1ms, between_zones: constant 20ms }
gateway: { zones: [west] }
${clients}
demand: [{ open: { rate: 100/s, arrivals: constant } }]
duration: 2s
`),
    );
    assert.equal(new Set(ends.map(({ latency }) => latency)).size, 1);
    return (ends[0]?.latency ?? 0) / 1e6;
  };
  // Two of work and 40 between q and its store; then the ways to the gateway and from there.
  assert.equal(latencies(''), 42 + 2 + 40);
  assert.equal(latencies('clients: { users: { zone: east } }'), 42 + 40 + 40);
  assert.equal(latencies('clients: { users: { via: registry } }'), 42 + 2);
});

// Loss.

const wide = (network: string, more = ''): Scenario =>
  scenarioFrom(`plimsoll: 1
services: { q: { replicas: 1, workers: 1000, service_time: constant 1ms } }
${network}
${more}
demand: [{ open: { rate: 500/s, arrivals: poisson } }]
warm_up: 0s
duration: 20s
`);

test('losses are no errors: a share of 1 − (1 − p)² comes 200 ms and a round trip later, or later still', () => {
  const share = 0.01;
  const { ends } = played(wide(`network: { delay: constant 2ms, loss: ${share} }`));
  assert.ok(ends.every(({ kind }) => kind === 'ok'));
  const base = 5e6;
  const bump = base + 204e6;
  const late = ends.filter(({ latency }) => latency > base);
  assert.ok(
    late.every(({ latency }) => latency >= bump),
    'nobody is late by less than a retransmission',
  );
  // Twice lost in one direction is 204 + 408 ms.
  assert.ok(new Set(late.map(({ latency }) => latency)).has(bump), 'most of them by exactly one');
  const expected = 1 - (1 - share) ** 2;
  const atMost = binomialAtMost(late.length, ends.length, expected);
  assert.ok(atMost > 0.0005 && atMost < 0.9995, `${late.length} of ${ends.length}, expected a share of ${expected}`);
});

/** A network alone. Each entry says when a message is sent, and is replaced by when it arrives; times in milliseconds. */
function sent(
  settings: { readonly loss?: number; readonly delay?: Distribution },
  script: readonly { readonly at: number; readonly how?: 'send' | 'open' }[],
  disturb: (network: Network, now: number) => void = () => undefined,
): readonly number[] {
  const events: { readonly at: number; readonly act: (now: number) => void }[] = [];
  const arrivals: number[] = [];
  const network = new Network(
    { delay: settings.delay ?? { kind: 'constant', value: ms(10) }, loss: settings.loss ?? 0, faults: [] },
    {
      seed: 1,
      schedule: (at, message) => events.push({ at, act: (now) => network.pass(message, now) }),
      deliver: (_kind, subject, _generation, now) => (arrivals[subject] = now / 1e6),
    },
  );
  const [from, to] = [network.end('a', 'east', ['users']), network.end('b', 'west', ['api', 'api-1'])];
  for (const [subject, { at, how = 'send' }] of script.entries()) {
    events.push({
      at: at * 1e6,
      act: (now) =>
        how === 'send' ? network.send(0, subject, 0, from, to, now) : network.open(0, subject, 0, from, to, now),
    });
  }
  for (let event = nextOf(events); event !== undefined; event = nextOf(events)) {
    disturb(network, event.at / 1e6);
    event.act(event.at);
  }
  return arrivals;
}

function nextOf<Event extends { readonly at: number }>(events: Event[]): Event | undefined {
  const index = events.findIndex(({ at }) => at === Math.min(...events.map((event) => event.at)));
  return index < 0 ? undefined : events.splice(index, 1)[0];
}

/** A partition from `from` to `to`, in milliseconds. */
function partitioned(from: number, to: number, of = 'api', side?: string): (network: Network, now: number) => void {
  let end: (() => void) | undefined;
  let isOver = false;
  return (network, now) => {
    if (now >= from && now < to) end ??= network.inject({ kind: 'partition', of, from: side }, () => assert.fail());
    if (now >= to && !isOver) {
      isOver = true;
      end?.();
    }
  };
}

test('through a partition nothing gets, and behind its end what is then sent again: after 220, 660, 1540 ms, …', () => {
  const script = [0, 100, 900, 1000].map((at) => ({ at }));
  assert.deepEqual(sent({}, script, partitioned(50, 950)), [10, 100 + 1540 + 10, 900 + 220 + 10, 1010]);
});

test('a connection is opened by a round trip, and tried again after 1, 3 and 7 seconds', () => {
  assert.deepEqual(sent({}, [{ at: 0, how: 'open' }]), [30]);
  for (const [until, tried] of [
    [900, 1000],
    [1001, 3000],
    [3001, 7000],
  ] as const) {
    assert.deepEqual(sent({}, [{ at: 0, how: 'open' }], partitioned(0, until)), [tried + 30]);
  }
});

test('a partition separates what it names from what it names, or from everything else', () => {
  const isCut = (of: string, from?: string): boolean =>
    (sent({}, [{ at: 0 }], partitioned(0, 100, of, from))[0] ?? 0) > 10;
  assert.deepEqual(
    [isCut('api'), isCut('api-1'), isCut('users'), isCut('east'), isCut('west'), isCut('east', 'west')],
    Array(6).fill(true),
  );
  assert.deepEqual([isCut('users', 'api'), isCut('api-1', 'east')], [true, true]);
  assert.deepEqual([isCut('api-2'), isCut('users', 'store'), isCut('west', 'north')], [false, false, false]);
});

test('losses shift no delays: what is not lost takes as long as without any', () => {
  const script = Array.from({ length: 250 }, (_, index) => ({ at: 5 * index }));
  const delay = { kind: 'exponential', mean: ms(3) } as const;
  const good = sent({ delay }, script);
  const lossy = sent({ delay, loss: 0.2 }, script);
  const same = good.filter((at, index) => at === lossy[index]);
  const atMost = binomialAtMost(same.length, script.length, 0.8);
  assert.ok(atMost > 0.0005 && atMost < 0.9995, `${same.length} of ${script.length}`);
  assert.ok(good.every((at, index) => at === lossy[index] || (lossy[index] ?? 0) > at + 200));
});

test("a network shifts nobody else's draws", () => {
  const draws = (network: string): string => {
    const { world } = played(queue(network)).simulation;
    const { values } = world.fleet.cells;
    return `${world.groups[0]?.arrivals} arrivals, ${values[cell.serviceCount]} served in ${values[cell.serviceSum]} ns`;
  };
  assert.equal(draws('network: { delay: exponential 1ms, loss: 1% }'), draws(''));
});

// Giving up.

const impatient = (abandoned: string, via: string): Scenario =>
  scenarioFrom(`plimsoll: 1
services: { q: { replicas: 1, workers: 1, service_time: constant 100ms, queue: { abandoned: ${abandoned} } } }
network: { delay: constant 5ms }
gateway: {}
clients: { users: { via: ${via}, timeout: 50ms } }
demand: [{ closed: { users: 2 } }]
warm_up: 0s
duration: 1s
`);

test('an abandoned request is abandoned at the replica one delay later, or two through the gateway', () => {
  for (const [via, delays] of [
    ['registry', 1],
    ['gateway', 2],
  ] as const) {
    const scenario = impatient('dropped', via);
    const simulation = new Simulation(scenario, { seed: 1, tick: ms(5) });
    const ticks = [...simulation.play(baselineOf(scenario))].filter((line) => line.kind === 'tick');
    const queued = ticks.map(({ replicas }) => replicas[0]?.queue_mean ?? 0);
    // Both users open a connection, which takes 10 ms, and ask; one is served, the other one waits. Both give up at 50 ms.
    assert.equal(queued.indexOf(1) * 5, 10 + 5 * delays);
    assert.equal(queued.findIndex((mean, index) => mean === 0 && queued[index - 1] === 1) * 5, 50 + 5 * delays);
  }
});

test('what is served for nobody is served all the same, where the queue does not notice', () => {
  const run = measuredRun(impatient('served', 'gateway'), 1);
  assert.equal(run.clients.answered, 0);
  assert.ok((replicaOf(run, 'q-1').busy_workers_mean ?? 0) > 0.9);
});

// Incidents.

test('a replica that is cut off from its gateway fails by timeouts, is taken out, and comes back after the end', () => {
  const scenario = scenarioFrom(`plimsoll: 1
services: { api: { replicas: 2, workers: 8, service_time: constant 5ms } }
network: { delay: constant 1ms }
gateway: { timeout: 500ms, health: { interval: 1s, timeout: 500ms, fall: 2, rise: 2 } }
demand: [{ open: { rate: 100/s, arrivals: constant } }]
faults: [{ at: 10s, for: 10s, partition: { of: api-2 } }]
warm_up: 0s
duration: 40s
`);
  const { ends, simulation } = played(scenario);
  const failed = ends.filter(({ kind }) => kind !== 'ok');
  assert.ok(failed.every(({ kind, latency }) => kind === 'timed-out' && latency === 502e6));
  const [first, last] = [failed[0]?.dueAt ?? 0, failed.at(-1)?.dueAt ?? 0];
  assert.ok(first >= 9.99e9 && last < 13e9, `from ${first / 1e9} to ${last / 1e9} s`);
  const gate = simulation.world.gateway('api');
  assert.ok(gate !== undefined && gate.isHealthy(1), 'it is back');
  assert.equal(gate.ejections, 1);
});

test('a slow and lossy link of one replica is seen at that replica only', () => {
  const { ends } = played(
    scenarioFrom(`plimsoll: 1
services: { api: { replicas: 2, workers: 8, service_time: constant 5ms } }
network: { delay: constant 1ms }
clients: { users: { via: registry } }
demand: [{ open: { rate: 100/s, arrivals: constant } }]
faults: [{ at: 5s, for: 5s, link: { replica: api-2, delay: 50ms, loss: 10% } }]
warm_up: 0s
duration: 15s
`),
  );
  const during = ends.filter(({ dueAt }) => dueAt >= 5e9 && dueAt < 10e9);
  const plain = during.filter(({ latency }) => latency === 7e6);
  const slow = during.filter(({ latency }) => latency === 107e6);
  assert.equal(plain.length, during.length / 2, 'every second one goes to api-1');
  const atMost = binomialAtMost(slow.length, during.length / 2, 0.81);
  assert.ok(atMost > 0.0005 && atMost < 0.9995, `${slow.length} of ${during.length / 2}, expected 81 %`);
  assert.ok(ends.filter((end) => !during.includes(end)).every(({ latency }) => latency === 7e6));
});

// The whole.

const scenarios = fc
  .record({
    delay: fc.constantFrom('constant 0s', 'constant 2ms', 'exponential 5ms', 'log-normal 1ms 30ms'),
    loss: fc.constantFrom('0%', '1%', '20%'),
    via: fc.constantFrom('gateway', 'registry', 'forwarder'),
    abandoned: fc.constantFrom('served', 'dropped'),
    retry: fc.constantFrom('', ', retry: { retries: 2, back_off: 10ms }'),
    demand: fc.constantFrom('closed: { users: 30 }', 'open: { rate: 300/s }', 'closed: { users: 20, think: 50ms }'),
    fault: fc.constantFrom(
      'partition: { of: api-2 }',
      'partition: { of: users }',
      'partition: { of: api, from: store }',
      'link: { replica: api-1, delay: 20ms, loss: 30% }',
      'kill: api-1',
      'pause: { replica: api-2, length: 300ms }',
      'stop: api-2',
    ),
    health: fc.boolean(),
    seed: fc.nat(1000),
  })
  .map(({ delay, loss, via, abandoned, retry, demand, fault, health, seed }) => ({
    seed,
    text: `plimsoll: 1
services:
  api: { replicas: 2, workers: 2, service_time: exponential 5ms, queue: { limit: 20, abandoned: ${abandoned} },
    calls: [{ to: store, timeout: 40ms, retries: 1 }] }
dependencies: { store: { workers: 4, service_time: exponential 5ms } }
network: { delay: ${delay}, loss: ${loss} }
gateway: { timeout: 150ms, retries: 1${health ? ', health: { interval: 200ms, timeout: 100ms, fall: 1 }' : ''} }
clients: { users: { via: ${via}, timeout: 200ms${retry} } }
demand: [${demand}]
faults: [{ at: 1s, ${fault.startsWith('pause') ? '' : 'for: 500ms, '}${fault} }]
warm_up: 0s
duration: 3s
`.replace(/demand: \[(.*)\]/, 'demand: [{ $1 }]'),
  }));

test('whatever happens: every request ends once, and when all is over nothing is left anywhere', () => {
  fc.assert(
    fc.property(scenarios, ({ text, seed }) => {
      const simulation = new Simulation(scenarioFrom(text), { seed, tick: seconds(1e6) });
      const ledgers = [...simulation.play(baselineOf(scenarioFrom(text)))].filter((line) => line.kind === 'ledger');
      for (const { planned, answered, failed, timed_out, in_flight_at_end } of ledgers) {
        assert.equal(planned, answered + failed + timed_out + in_flight_at_end);
      }
      const { world } = simulation;
      assert.equal(world.requests.count, 0);
      world.run(world.now + 600e9);
      for (const station of world.fleet.stations) assert.equal(station.inFlight, 0, station.id);
      for (const { gate, inFlight } of world.groups) assert.deepEqual([gate.inFlight.value, inFlight.value], [0, 0]);
      if (!world.checksHealth) assert.equal(world.jobs.count, 0, 'nobody works any more');
    }),
    { numRuns: 30 },
  );
});

test('equal seeds give equal digests, other seeds and other networks others', () => {
  const digestOf = (network: string, seed: number): string => played(queue(network, '', 100), seed).simulation.digest;
  const network = 'network: { delay: exponential 1ms, loss: 1% }';
  const digests = [digestOf(network, 1), digestOf(network, 2), digestOf('network: { delay: exponential 1ms }', 1)];
  assert.equal(digestOf(network, 1), digests[0]);
  assert.equal(new Set(digests).size, 3);
});
