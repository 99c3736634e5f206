import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantAt, ns } from '../base.ts';
import type { LabScrape } from '../lab.ts';
import type { LoadSnapshot } from '../load.ts';
import { tickFrom } from './tick.ts';

const snapshot: LoadSnapshot = {
  at: instantAt(2e9),
  span: ns(1e9),
  cpu: ns(5e6),
  groups: [
    {
      group: 'users',
      planned: 10,
      sent: 10,
      answered: 9,
      errors: {},
      inFlightMean: 3,
      inFlightMin: 1,
      inFlightMax: 5,
      latency: undefined,
      lag: undefined,
      refused: 0,
      inFlightAtEnd: 0,
      neverSent: 0,
      bytes: 0,
      answeredBy: { 'api-1': 9 },
    },
  ],
  replicas: [{ id: 'api-1', finished: 9, errors: { timeout: 1 }, latency: undefined }],
};

function scrape(text: string | undefined, cpuNs: number, gateway?: string): LabScrape {
  return {
    replicas: new Map(text === undefined ? [] : [['api-1', text]]),
    silent: text === undefined ? ['api-1'] : [],
    gateway: gateway === undefined ? undefined : { program: 'plimsoll', text: gateway },
    cpu: new Map([['api-1', { cpuNs, throttledNs: undefined, throttledPeriods: undefined }]]),
  };
}

const metrics = (inFlight: number, busy: number, started: number, service: number, count: number): string =>
  `plimsoll_replica_in_flight_seconds_total ${inFlight}\nplimsoll_replica_busy_seconds_total ${busy}\n` +
  `plimsoll_replica_queue_seconds_total 0\nplimsoll_replica_started_total ${started}\n` +
  `plimsoll_replica_service_seconds_sum ${service}\nplimsoll_replica_service_seconds_count ${count}\n`;

function tick(before: LabScrape, after: LabScrape): ReturnType<typeof tickFrom> {
  return tickFrom({
    phase: 'baseline',
    at_ns: 1e9,
    span_ns: 1e9,
    snapshot,
    before,
    after,
    scrapedBefore: 1e9,
    scrapedAfter: 3e9,
  });
}

test('means are differences of time integrals over the distance of the two scrapes', () => {
  const line = tick(scrape(metrics(10, 4, 100, 2, 100), 1e6), scrape(metrics(16, 8, 120, 2.5, 120), 4e6));
  const replica = line.replicas[0];
  assert.equal(replica?.in_flight_mean, 3);
  assert.equal(replica?.busy_workers_mean, 2);
  assert.equal(replica?.started, 20);
  assert.equal(replica?.service_sum_ns, 0.5e9);
  assert.equal(replica?.service_count, 20);
  assert.equal(replica?.cpu_ns, 3e6);
  assert.deepEqual(replica?.errors, { timeout: 1 });
  assert.equal(replica?.finished, 9);
});

test('a replica that could not be scraped has no means, and is not at zero', () => {
  const replica = tick(scrape(metrics(10, 4, 100, 2, 100), 1e6), scrape(undefined, 1e6)).replicas[0];
  assert.equal(replica?.state, 'silent');
  assert.equal('in_flight_mean' in (replica ?? {}), false);
  assert.equal('busy_workers_mean' in (replica ?? {}), false);
});

test('of a silent replica the gateway still knows what is in flight', () => {
  const line = (seconds: number): string =>
    `plimsoll_gateway_endpoint_in_flight_seconds_total{endpoint="api-1"} ${seconds}\n` +
    'plimsoll_gateway_endpoint_healthy{endpoint="api-1"} 1\nplimsoll_gateway_requests_total{code="200"} 7\n';
  const found = tick(scrape(undefined, 1e6, line(100)), scrape(undefined, 1e6, line(228)));
  assert.equal(found.replicas[0]?.in_flight_mean, 64);
  assert.equal(found.gateway?.healthy, 1);
  assert.equal(found.gateway?.requests, 0);
});

test('a counter that went down began again: what it shows is its growth', () => {
  const replica = tick(scrape(metrics(10, 4, 100, 2, 100), 1e6), scrape(metrics(2, 1, 30, 0.5, 30), 4e6)).replicas[0];
  assert.equal(replica?.started, 30);
  assert.equal(replica?.in_flight_mean, 1);
});
