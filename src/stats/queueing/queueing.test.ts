// Against published and independently computed values: the tables below come from closed forms in high precision and from GNU
// Octave's queueing package.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { closedNetwork, type Station } from './closed-network.ts';
import { finiteQueue } from './finite-queue.ts';
import { asymptotes, littleInFlight, responseTime, rotationBound, utilisation } from './laws.ts';
import { erlangB, erlangC, manyServers } from './many-servers.ts';
import { constantServiceQuantile, meanWait } from './one-server.ts';

/** Equal to so many digits as the table has. */
function close(actual: number | undefined, expected: number, what: string, tolerance = 5e-6): void {
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= tolerance * Math.abs(expected),
    `${what}: ${actual}, expected ${expected}`,
  );
}

const steady = (servers: number, arrivalRate: number, serviceRate: number) =>
  manyServers({ arrivalRate, serviceRate, servers }) ?? assert.fail('it is steady');

test('one server with exponential service', () => {
  const table: readonly (readonly number[])[] = [
    // rate, in system, time, wait, p50, p90, p99, p99.9
    [0.5, 1, 2, 1, 1.386294, 4.60517, 9.21034, 13.815511],
    [0.8, 4, 5, 4, 3.465736, 11.512925, 23.025851, 34.538776],
    [0.9, 9, 10, 9, 6.931472, 23.025851, 46.051702, 69.077553],
    [0.95, 19, 20, 19, 13.862944, 46.051702, 92.103404, 138.155106],
  ];
  for (const [rate = 0, present = 0, time = 0, wait = 0, ...quantiles] of table) {
    const queue = steady(1, rate, 1);
    close(queue.inSystemMean, present, `present at ${rate}`);
    close(queue.timeMean, time, `time at ${rate}`);
    close(queue.waitMean, wait, `wait at ${rate}`);
    close(queue.waitProbability, rate, `waiting at ${rate}`);
    [0.5, 0.9, 0.99, 0.999].forEach((p, index) =>
      close(queue.timeQuantile(p), quantiles[index] ?? 0, `p ${p} at ${rate}`),
    );
  }
});

test('many servers with exponential service', () => {
  const table: readonly (readonly number[])[] = [
    // servers, arrivals, service rate, waiting, wait, time, present, p50, p99, p99.9
    [2, 1.6, 1, 0.711111, 1.777778, 2.777778, 4.444444, 2.04003, 11.93737, 17.69413],
    [8, 160, 25, 0.457645, 11.4411e-3, 51.4411e-3, 8.23058, 39.4534e-3, 206.087e-3, 298.789e-3],
    [8, 180, 25, 0.701533, 35.0767e-3, 75.0767e-3, 13.5138, 59.5742e-3, 283.494e-3, 403.131e-3],
    [8, 190, 25, 0.844169, 84.4169e-3, 124.417e-3, 23.6392, 96.4022e-3, 494.642e-3, 724.917e-3],
    [10, 8, 1, 0.40918, 0.20459, 1.20459, 9.636721, 0.912145, 4.946111, 7.250557],
    [16, 320, 25, 0.304884, 3.81105e-3, 43.8111e-3, 14.01954, 32.0743e-3, 189.398e-3, 281.502e-3],
    [16, 200, 25, 0.00901881, 0.045094e-3, 40.0451e-3, 8.009019, 27.777e-3, 184.258e-3, 276.362e-3],
    [64, 1440, 25, 0.310663, 1.94165e-3, 41.9417e-3, 60.39597, 29.925e-3, 186.444e-3, 278.548e-3],
    [100, 90, 1, 0.216941, 0.0216941, 1.021694, 91.95246, 0.716929, 4.628989, 6.931574],
    [1000, 950, 1, 0.0682534, 0.00136507, 1.001365, 951.2968, 0.694539, 4.606562, 6.909147],
  ];
  for (const [
    servers = 0,
    arrivals = 0,
    rate = 0,
    waiting = 0,
    wait = 0,
    time = 0,
    present = 0,
    ...quantiles
  ] of table) {
    const what = `${servers} servers at ${arrivals}`;
    const queue = steady(servers, arrivals, rate);
    close(queue.waitProbability, waiting, `waiting of ${what}`);
    close(queue.waitMean, wait, `wait of ${what}`);
    close(queue.timeMean, time, `time of ${what}`);
    close(queue.inSystemMean, present, `present of ${what}`);
    [0.5, 0.99, 0.999].forEach((p, index) => close(queue.timeQuantile(p), quantiles[index] ?? 0, `p ${p} of ${what}`));
  }
});

test('the tail is smooth where its formula has a hole: one server fewer would be exactly busy', () => {
  // a = c − 1: P(T > t) = e^(−t)(1 + Ct).
  const queue = steady(3, 2, 1);
  close(queue.timeAbove(1.5), Math.exp(-1.5) * (1 + queue.waitProbability * 1.5), 'at the hole', 1e-12);
  const beside = steady(3, 2 + 1e-7, 1);
  close(beside.timeAbove(1.5), queue.timeAbove(1.5), 'beside it', 1e-6);
});

test('the wait is nothing for those who find a server, and exponential for the rest', () => {
  const queue = steady(8, 160, 25);
  assert.equal(queue.waitAbove(-1), 1);
  close(queue.waitAbove(0), 0.457645, 'who waits');
  close(queue.waitAbove(0.02), 0.457645 * Math.exp(-0.8), 'who waits 20 ms');
  assert.equal(queue.timeAbove(0), 1);
  close(queue.utilisation, 0.8, 'utilisation');
});

test('the mean is the area under the tail', () => {
  for (const [servers, arrivals] of [
    [1, 0.7],
    [4, 3.2],
    [50, 45],
  ] as const) {
    const queue = steady(servers, arrivals, 1);
    let area = 0;
    const step = 0.002;
    for (let t = 0; t < 60; t += step) area += step * queue.timeAbove(t + step / 2);
    close(area, queue.timeMean, `${servers} servers`, 1e-4);
  }
});

test('when more is offered than can be served there is no steady state', () => {
  assert.equal(manyServers({ arrivalRate: 8, serviceRate: 1, servers: 8 }), undefined);
  assert.notEqual(manyServers({ arrivalRate: 7.99, serviceRate: 1, servers: 8 }), undefined);
  assert.equal(meanWait({ arrivalRate: 1, serviceMean: 1, scv: 1 }), undefined);
  assert.equal(constantServiceQuantile(1, 1, 0.5), undefined);
});

test('Erlang B, also far beyond what fits into factorials', () => {
  const table: readonly (readonly [servers: number, lost: number])[] = [
    [8, 0.23557026],
    [10, 0.12166106],
    [12, 0.05140639],
    [16, 0.00452983],
  ];
  for (const [servers, lost] of table) close(erlangB(servers, 8), lost, `${servers}`, 1e-6);
  const large = erlangB(100_000, 100_000);
  // For load = servers it tends to √(2/(π·servers)).
  close(large, Math.sqrt(2 / (Math.PI * 100_000)), 'a hundred thousand', 0.01);
  assert.equal(erlangB(0, 5), 1);
  assert.throws(() => erlangC(2, 2), /less work is offered/);
});

test('the wait before one server is that of Pollaczek and Khinchine', () => {
  const table: readonly (readonly number[])[] = [
    [0.5, 0.5, 0.75, 1, 2.5, 8.5],
    [0.8, 2, 3, 4, 10, 34],
    [0.9, 4.5, 6.75, 9, 22.5, 76.5],
  ];
  for (const [rate = 0, ...waits] of table) {
    [0, 0.5, 1, 4, 16].forEach((scv, index) =>
      close(meanWait({ arrivalRate: rate, serviceMean: 1, scv }), waits[index] ?? 0, `${rate}, scv ${scv}`, 1e-12),
    );
  }
  // A thousandth of the requests takes a hundred times as long.
  close(meanWait({ arrivalRate: 0.8 / 0.1099, serviceMean: 0.1099, scv: 17.2133 }), 4.003276, 'two modes');
});

test('the time before one server with constant service, to its far percentiles', () => {
  const table: readonly (readonly number[])[] = [
    [0.5, 1, 2.51574, 4.33626, 6.16839],
    [0.8, 2.27594, 6.01151, 11.35589, 16.70027],
    [0.9, 4.01305, 11.7825, 22.89824, 34.01397],
    [0.95, 7.48067, 23.30223, 45.93777, 68.5733],
  ];
  for (const [rate = 0, ...quantiles] of table) {
    [0.5, 0.9, 0.99, 0.999].forEach((p, index) =>
      close(constantServiceQuantile(rate, 1, p), quantiles[index] ?? 0, `${rate}, p ${p}`),
    );
  }
  close(constantServiceQuantile(20, 0.04, 0.5), 2.27594 * 0.04, 'in other units');
});

test('a pool with a queue that has an end', () => {
  const table: readonly (readonly number[])[] = [
    // servers, capacity, arrivals, service rate, blocked, throughput, present, time
    [1, 10, 0.8, 1, 0.02349286, 0.7812057, 2.966314, 3.797098],
    [1, 10, 1.2, 1, 0.1925865, 0.9688962, 6.710709, 6.926138],
    [8, 8, 200, 25, 0.2355703, 152.8859, 6.115438, 40e-3],
    [8, 32, 180, 25, 0.00589265, 178.9393, 12.00306, 67.079e-3],
    [8, 32, 220, 25, 0.09758566, 198.5312, 24.05926, 121.186e-3],
    [8, 64, 400, 25, 0.5, 200, 63, 315e-3],
    [16, 16, 400, 25, 0.1753076, 329.8769, 13.19508, 40e-3],
  ];
  for (const [
    servers = 0,
    capacity = 0,
    arrivalRate = 0,
    serviceRate = 0,
    blocked = 0,
    throughput = 0,
    present = 0,
    time = 0,
  ] of table) {
    const queue = finiteQueue({ arrivalRate, serviceRate, servers, capacity });
    const what = `${servers}/${capacity} at ${arrivalRate}`;
    close(queue.blocked, blocked, `blocked of ${what}`);
    close(queue.throughput, throughput, `throughput of ${what}`);
    close(queue.inSystemMean, present, `present of ${what}`);
    close(queue.timeMean, time, `time of ${what}`);
  }
});

test('clients who give up keep the queue short', () => {
  const table: readonly (readonly number[])[] = [
    // arrivals, rate of giving up, abandoned, queue, throughput; eight servers of 25
    [180, 10, 0.07244166, 1.30395, 166.9605],
    [220, 10, 0.1512547, 3.327603, 186.724],
    [400, 10, 0.5000159, 20.00064, 199.9936],
    [220, 1, 0.0987654, 21.72839, 198.2716],
  ];
  for (const [arrivalRate = 0, abandonRate = 0, abandoned = 0, queueMean = 0, throughput = 0] of table) {
    const queue = finiteQueue({ arrivalRate, serviceRate: 25, servers: 8, capacity: 3000, abandonRate });
    close(queue.abandoned, abandoned, `abandoned at ${arrivalRate}`);
    close(queue.queueMean, queueMean, `queue at ${arrivalRate}`);
    close(queue.throughput, throughput, `throughput at ${arrivalRate}`);
  }
});

/** Ten replicas chosen at random, the first of them slow. */
const fleet = (healthy: number, slow: number, servers: number): readonly Station[] =>
  Array.from({ length: 10 }, (_, index) => ({ demand: (index === 0 ? slow : healthy) / 10, servers }));

test('the convoy under random choice, single-server replicas of 40 and 48 ms', () => {
  const table: readonly (readonly number[])[] = [
    // users, throughput, in flight at the slow one, at a healthy one, response time, throughput of the balanced fleet
    [10, 128.5952, 1.3606, 0.9599, 77.763e-3, 131.5789],
    [20, 167.7604, 3.2388, 1.8624, 119.218e-3, 172.4138],
    [50, 201.8131, 14.2326, 3.9742, 247.754e-3, 211.8644],
    [100, 208.2451, 55.2307, 4.9744, 480.203e-3, 229.3578],
    [200, 208.3333, 155, 5, 960e-3, 239.2344],
    [400, 208.3333, 355, 5, 1920e-3, 244.4988],
  ];
  for (const [users = 0, throughput = 0, slow = 0, healthy = 0, time = 0, balanced = 0] of table) {
    const result = closedNetwork({ users, think: 0, stations: fleet(0.04, 0.048, 1) });
    close(result.throughput, throughput, `throughput of ${users}`);
    close(result.stations[0]?.inFlight, slow, `slow of ${users}`, 5e-5);
    close(result.stations[1]?.inFlight, healthy, `healthy of ${users}`, 5e-5);
    close(result.responseTime, time, `time of ${users}`, 1e-5);
    close(closedNetwork({ users, think: 0, stations: fleet(0.04, 0.04, 1) }).throughput, balanced, `balanced ${users}`);
  }
});

test('the convoy under random choice, replicas of eight workers and users who think', () => {
  const table: readonly (readonly number[])[] = [
    // users, throughput, slow, healthy, time, utilisation healthy, slow
    [100, 709.8513, 3.4228, 2.8436, 40.875e-3, 0.3549, 0.4259],
    [200, 1374.4619, 8.6005, 5.9948, 45.511e-3, 0.6872, 0.8247],
    [240, 1561.2131, 15.4274, 7.6057, 53.727e-3, 0.7806, 0.9367],
    [280, 1650.2179, 34.5953, 8.9314, 69.675e-3, 0.8251, 0.9901],
    [400, 1666.6666, 149.3625, 9.3301, 140e-3, 0.8333, 1],
    [800, 1666.6667, 549.3624, 9.3301, 380e-3, 0.8333, 1],
  ];
  for (const [users = 0, throughput = 0, slow = 0, healthy = 0, time = 0, busyHealthy = 0, busySlow = 0] of table) {
    const { stations, ...result } = closedNetwork({ users, think: 0.1, stations: fleet(0.04, 0.048, 8) });
    close(result.throughput, throughput, `throughput of ${users}`);
    close(stations[0]?.inFlight, slow, `slow of ${users}`, 2e-5);
    close(stations[1]?.inFlight, healthy, `healthy of ${users}`, 2e-5);
    close(result.responseTime, time, `time of ${users}`, 2e-5);
    close(stations[1]?.utilisation, busyHealthy, `healthy work of ${users}`, 2e-4);
    close(stations[0]?.utilisation, busySlow, `slow work of ${users}`, 2e-4);
  }
});

test('how much slower one replica is, and how many of 200 users stand there', () => {
  const table: readonly (readonly [factor: number, slow: number, throughput: number])[] = [
    [1, 20, 239.23],
    [1.01, 23.94, 238.95],
    [1.02, 29.09, 238.55],
    [1.05, 54.58, 236.13],
    [1.1, 110.35, 227.23],
    [1.2, 155, 208.33],
    [1.5, 182, 166.67],
    [2, 191, 125],
    [5, 197.75, 50],
  ];
  for (const [factor, slow, throughput] of table) {
    const result = closedNetwork({ users: 200, think: 0, stations: fleet(0.04, 0.04 * factor, 1) });
    close(result.stations[0]?.inFlight, slow, `slow ×${factor}`, 3e-4);
    close(result.throughput, throughput, `throughput ×${factor}`, 3e-5);
  }
});

test('one station and users who think are the machine-repair model', () => {
  const twenty = closedNetwork({ users: 20, think: 1, stations: [{ demand: 0.04, servers: 1 }] });
  close(twenty.throughput, 18.002746, 'throughput of 20', 1e-7);
  close(twenty.responseTime, 110.942e-3, 'time of 20');
  const fifty = closedNetwork({ users: 50, think: 1, stations: [{ demand: 0.04, servers: 1 }] });
  close(fifty.throughput, 24.99991, 'throughput of 50', 1e-7);
  close(fifty.responseTime, 1.000007, 'time of 50', 1e-6);
  // Ten users at a time, 0.1 s of service, 1.145 s of thinking.
  const ten = closedNetwork({ users: 10, think: 1.145, stations: [{ demand: 0.1, servers: 1 }] });
  close(ten.throughput, 7.209997, 'throughput of ten', 1e-6);
  close(ten.responseTime, 0.241963, 'time of ten');
});

test('a closed network obeys the laws: everybody is somewhere, and no bound is passed', () => {
  const station = fc.record({
    demand: fc.double({ min: 0.001, max: 1, noNaN: true }),
    servers: fc.integer({ min: 1, max: 12 }),
  });
  fc.assert(
    fc.property(
      fc.array(station, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 60 }),
      fc.double({ min: 0, max: 5, noNaN: true }),
      (stations, users, think) => {
        const result = closedNetwork({ users, think, stations });
        const present = result.stations.reduce((sum, { inFlight }) => sum + inFlight, 0);
        close(present + littleInFlight(result.throughput, think), users, 'everybody', 1e-9);
        const service = stations.reduce((sum, { demand }) => sum + demand, 0);
        const demands = stations.map(({ demand, servers }) => demand / servers);
        const bounds = asymptotes({ users, think, demands, service });
        assert.ok(result.throughput <= bounds.throughputMax * (1 + 1e-9));
        assert.ok(result.responseTime >= bounds.responseMin * (1 - 1e-9) - 1e-9);
        for (const { utilisation: busy } of result.stations) assert.ok(busy <= 1 + 1e-9);
      },
    ),
  );
});

test('thousands of users with long thoughts do not overflow', () => {
  const result = closedNetwork({ users: 4000, think: 10, stations: fleet(0.04, 0.04, 8) });
  close(result.throughput, 4000 / 10.04, 'nearly idle', 1e-3);
});

test('the laws by hand', () => {
  assert.equal(littleInFlight(200, 0.04), 8);
  assert.equal(utilisation(200, 0.04, 16), 0.5);
  close(responseTime(64, 800, 0), 0.08, 'response', 1e-12);
  assert.equal(rotationBound([200, 200, 174, 200]), 696);
  const { knee, throughputMax, responseMin } = asymptotes({
    users: 64,
    think: 0,
    demands: Array<number>(4).fill(0.00125),
    service: 0.02,
  });
  assert.deepEqual([knee, throughputMax], [16, 800]);
  close(responseMin, 0.08, 'response at least', 1e-12);
});
