// The driver against arithmetic that can be checked by hand: what it reports must be what is true.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dice, type Duration, instantAt, type Instant, ms, seconds } from '../base.ts';
import { histogramOfFields, Histogram } from '../stats.ts';
import type { LoadGroup, LoadResult, LoadRun } from './contract.ts';
import { ImaginedServer, type ImaginedServerOptions } from './testing/imagined-server.ts';
import { startLoad } from './run.ts';
import { groupOf } from './testing/scripted-load.ts';

const at = (count: number): Instant => instantAt(seconds(count));

interface Played {
  readonly result: LoadResult;
  readonly latency: Histogram;
  readonly service: Histogram;
  readonly lag: Histogram;
  readonly server: ImaginedServer;
}

async function play(
  group: LoadGroup,
  options: ImaginedServerOptions,
  length: Instant,
  grace: Duration,
  warmUp?: Instant,
): Promise<Played> {
  const server = new ImaginedServer(options);
  const run: LoadRun = startLoad({ groups: [group], seed: 1 }, server.engine, { cpu: () => ms(0) });
  if (warmUp !== undefined) {
    server.engine.advance(warmUp);
    run.measure();
  }
  server.engine.advance(length);
  const stopped = run.stop(grace);
  server.engine.advance(instantAt(length + grace + ms(5)));
  const result = await stopped;
  const of = (what: string): Histogram => {
    const line = result.histograms.find((histogram) => histogram.of.group === 'shop' && histogram.of.what === what);
    if (line === undefined) return new Histogram();
    const histogram = histogramOfFields(line);
    assert.ok(histogram instanceof Histogram);
    return histogram;
  };
  return { result, latency: of('latency'), service: of('service'), lag: of('lag'), server };
}

/** Within one bucket of the histogram (0.55 %) and the slack of the case. */
function near(observed: number | undefined, expected: number, slack: number): void {
  assert.ok(observed !== undefined);
  const allowed = 0.006 * expected + slack;
  assert.ok(Math.abs(observed - expected) <= allowed, `${observed / 1e6} ms, expected ${expected / 1e6} ms`);
}

test('a server that stalls for one second in twenty: p99 is that of the stall, not of the good times', async () => {
  // Rate 100/s, base 5 ms, stall S = 1 s in P = 20 s. One request in twenty is due in the stall and its latency is spread
  // evenly over S: p99 = S·(1 − 0.01·P/S) + base = 805 ms. A closed loop with one user would send one request into the
  // stall and report 5 ms.
  const { result, latency, service } = await play(
    groupOf('open rate=100 timeout=5000'),
    { serviceTime: () => ms(5), stall: { at: at(10), until: at(11) } },
    at(20),
    seconds(2),
  );
  assert.equal(result.ledgers[0]?.answered, result.ledgers[0]?.planned);
  // The 101 requests of the stall lie 10 ms apart.
  near(latency.quantile(0.99)?.value, ms(805), ms(10));
  near(latency.quantile(0.5)?.value, ms(5), ms(0));
  near(latency.max, ms(1005), ms(0));
  // The server stalled, not the generator: the same shows in the time from sending.
  near(service.quantile(0.99)?.value, ms(805), ms(10));
});

test('with one connection the stall becomes a queue in the generator: the latency sees it, the service time hides it', async () => {
  // One connection, 5 ms a request at 100/s: 1 s of stall leaves 100 requests waiting, which are worked off at 200/s while
  // 100/s come in: those due within 2 s from the stall wait. The last to wait has waited 0. p99 over 20 s (2,000 requests,
  // 200 late, latency falling evenly from 1,005 ms to 5 ms): 1,005 − 0.1 · 1,000 = 905 ms.
  const { latency, service, result } = await play(
    groupOf('open rate=100 timeout=5000 max=1'),
    { serviceTime: () => ms(5), stall: { at: at(10), until: at(11) } },
    at(20),
    seconds(2),
  );
  near(latency.quantile(0.99)?.value, ms(905), ms(10));
  near(service.quantile(0.99)?.value, ms(5), ms(0));
  assert.match(result.limits.join(), /requests waited for one/);
});

test('an outage at the end is not lost: what was due and never answered is a lower bound', async () => {
  // 1,000/s for 20 s; the server stands still from 14 s on. 30 % of the plan is unanswered; the median is honest and the p99
  // can only be bounded from below, by about 6 s − 1 % of 20 s.
  const { result, latency } = await play(
    groupOf('open rate=1000 timeout=60000'),
    { serviceTime: () => ms(2), stall: { at: at(14), until: at(1000) } },
    at(20),
    ms(0),
  );
  const ledger = result.ledgers[0];
  assert.ok(ledger !== undefined);
  assert.equal(ledger.planned, 20_001);
  // The last request is due at the very end. Those of the last 2 ms before the outage are answered: they had begun.
  assert.equal(ledger.answered, 14_000);
  assert.equal(ledger.in_flight_at_end + ledger.never_sent, 6_001);
  near(latency.quantile(0.5)?.value, ms(2), ms(0));
  const p99 = latency.quantile(0.99);
  assert.equal(p99?.atLeast, true);
  near(p99?.value, ms(5800), ms(20));
});

test('late alarms make the lag, and never move a due time', async () => {
  const lateness = dice(7, 'lateness');
  const { latency, service, lag } = await play(
    groupOf('open rate=1000'),
    { serviceTime: () => ms(2), alarmLateness: () => ms(lateness.next()) },
    at(5),
    seconds(1),
    at(1),
  );
  // Each request is late by up to a millisecond; latency is service plus lag.
  near(service.mean, ms(2), ms(0));
  assert.ok(latency.mean !== undefined && lag.mean !== undefined && service.mean !== undefined);
  near(latency.mean, service.mean + lag.mean, 1);
  assert.ok((lag.max ?? 0) <= ms(1));
  // Both ends of four seconds.
  assert.equal(latency.count, 4001);
});

test('closed users obey the response time law: throughput = users ÷ (response + think)', async () => {
  const { result, latency } = await play(
    groupOf('closed users=10 think=80'),
    { serviceTime: () => ms(20) },
    at(11),
    seconds(1),
    at(1),
  );
  // 10 / (20 + 80) ms = 100/s for 10 s. The ends of the interval may cut one request of each user.
  assert.ok(Math.abs((result.ledgers[0]?.answered ?? 0) - 1000) <= 10);
  near(latency.quantile(0.99)?.value, ms(20), ms(0));
});

test('closed users obey it too when each thought is drawn', async () => {
  const { result } = await play(
    groupOf('closed users=100 think=80 thoughts=exponential'),
    { serviceTime: () => ms(20) },
    at(11),
    seconds(1),
    at(1),
  );
  // 100 / (20 + 80) ms = 1000/s for 10 s. A user's count in time t has variance tσ²/μ³ = 64, so all have a deviation of 80.
  const answered = result.ledgers[0]?.answered ?? 0;
  assert.ok(Math.abs(answered - 10_000) <= 4.5 * 80, `${answered}`);
});

test('closed users pile up at a full server: R = users ÷ throughput', async () => {
  // One worker with 10 ms: X = 100/s whatever the users do, so the time in the system is N/X − Z = 200 ms − 0.
  const { result, latency } = await play(
    groupOf('closed users=20'),
    { serviceTime: () => ms(10), workers: 1 },
    at(12),
    seconds(1),
    at(2),
  );
  assert.ok(Math.abs((result.ledgers[0]?.planned ?? 0) - 1000) <= 20);
  near(latency.quantile(0.5)?.value, ms(200), ms(0));
});

test('Poisson arrivals at one exponential worker wait as M/M/1 says', async () => {
  // ρ = 0.5 at 50/s and 10 ms: the time in the system is exponential with mean 1/(μ − λ) = 20 ms. Means of 2,000 s of
  // correlated waits: the standard error is about (1 + ρ)/(1 − ρ) · 20 ms/√(100,000 · …) < 0.15 ms; four of them are allowed.
  const service = dice(3, 'service');
  const { latency } = await play(
    groupOf('open rate=50 arrivals=poisson timeout=100000'),
    { serviceTime: () => ms(service.exponential(10)), workers: 1 },
    at(2000),
    seconds(10),
  );
  const mean = latency.mean ?? 0;
  // Opening the first connections adds 0.1 ms each.
  assert.ok(Math.abs(mean - ms(20)) < ms(0.6), `${mean / 1e6} ms`);
  near(latency.quantile(0.99)?.value, ms(20 * Math.log(100)), ms(5));
});

test('server and ledger agree to the request', async () => {
  const { result, server } = await play(groupOf('open rate=777'), { serviceTime: () => ms(3) }, at(3), seconds(1));
  assert.equal(result.ledgers[0]?.planned, 1 + Math.floor(3 * 777));
  assert.equal(result.ledgers[0]?.answered, server.answered);
});
