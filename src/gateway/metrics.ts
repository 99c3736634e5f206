// What the gateway counts, as Prometheus text. Written only when somebody asks.

import { assert, type Instant } from '../base.ts';
import { type Admission, type Admissions, refusals } from './admission.ts';
import type { DataPlane } from './data-plane.ts';
import { endpointErrorKinds, type Exclusion, exclusions, type LiveEndpoint } from './live-endpoint.ts';
import type { LiveFleet } from './live-fleet.ts';

type Labels = Readonly<Record<string, string>>;

/** One name with all that is counted under it. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly samples: readonly { readonly labels: Labels; readonly value: number }[];
}

export function metricsText(plane: DataPlane, now: Instant): string {
  return prometheusText(gatewayFamilies(plane, now));
}

/** Prometheus' text format 0.0.4. */
export function prometheusText(families: readonly Family[]): string {
  let text = '';
  for (const { name, type, help, samples } of families) {
    text += `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n`;
    for (const { labels, value } of samples) {
      const inside = Object.entries(labels)
        .map(([key, label]) => `${key}="${escaped(label)}"`)
        .join(',');
      text += `${name}${inside === '' ? '' : `{${inside}}`} ${numberText(value)}\n`;
    }
  }
  return text;
}

export function gatewayFamilies(plane: DataPlane, now: Instant): readonly Family[] {
  const page = new Page();
  page.family(
    'plimsoll_gateway_requests_total',
    'counter',
    'Requests that have left, by the status they were answered with; 0: none.',
  );
  plane.answers.forEach((count, status) => {
    if (count > 0) page.sample('plimsoll_gateway_requests_total', { code: String(status) }, count);
  });
  page.family(
    'plimsoll_gateway_ways_out_total',
    'counter',
    'Requests that left without an endpoint’s whole answer, by reason.',
  );
  for (const [way, count] of plane.waysOut) page.sample('plimsoll_gateway_ways_out_total', { way }, count);
  page.single('plimsoll_gateway_in_flight', 'gauge', 'Requests inside.', plane.inFlight);
  page.single('plimsoll_gateway_connections', 'gauge', 'Client connections.', plane.connections);
  page.single(
    'plimsoll_gateway_refused_connections_total',
    'counter',
    'Client connections beyond the limit.',
    plane.refusedConnections,
  );
  page.family(
    'plimsoll_gateway_reloads_total',
    'counter',
    'Configurations and certificates read anew, by what became of it.',
  );
  for (const [result, count] of Object.entries(plane.reloads)) {
    page.sample('plimsoll_gateway_reloads_total', { result }, count);
  }
  page.single('plimsoll_gateway_retries_total', 'counter', 'Attempts after the first.', plane.retries);
  if (plane.budget !== undefined) {
    const left = plane.budget.left(now);
    page.single('plimsoll_gateway_retry_budget', 'gauge', 'Retries that would be allowed now.', left);
  }
  page.family('plimsoll_gateway_retries_refused_total', 'counter', 'Attempts not repeated, by what forbade it.');
  for (const [by, count] of Object.entries(plane.retriesRefused)) {
    page.sample('plimsoll_gateway_retries_refused_total', { by }, count);
  }
  if (plane.hedge !== undefined) {
    page.single('plimsoll_gateway_hedges_total', 'counter', 'Second requests sent beside a first.', plane.hedges);
    page.single('plimsoll_gateway_hedges_won_total', 'counter', 'Of them, those that answered first.', plane.hedgesWon);
  }
  if (plane.admissions !== undefined) admissionPage(page, plane, plane.admissions);
  page.single(
    'plimsoll_gateway_access_log_dropped_total',
    'counter',
    'Lines that the disk did not take.',
    plane.telling?.log?.dropped ?? 0,
  );
  tellingPage(page, plane);
  excludedPage(page, plane);
  if (plane.services.size > 0) servicesPage(page, plane);
  const all = [...plane.fleet.endpoints, ...plane.fleet.leaving];
  for (const family of endpointFamilies) {
    page.family(family.name, family.type, family.help);
    for (const live of all) family.write(page, family.name, live, now);
  }
  return page.families;
}

/** Services as wholes: a page with every endpoint of a thousand of them would keep requests waiting while it is written.
 * `GET /services/NAME` has the endpoints of one. */
function servicesPage(page: Page, plane: DataPlane): void {
  const fleets = plane.services.names().flatMap((name) => plane.services.named(name) ?? []);
  const names = plane.services.names();
  const family = (name: string, type: 'counter' | 'gauge', help: string, value: (fleet: LiveFleet) => number): void => {
    page.family(name, type, help);
    fleets.forEach((fleet, index) => page.sample(name, { service: names[index] ?? '' }, value(fleet)));
  };
  const sum = (fleet: LiveFleet, of: (live: LiveEndpoint) => number): number =>
    fleet.endpoints.reduce((total, live) => total + of(live), 0);
  family('plimsoll_gateway_service_endpoints', 'gauge', 'Endpoints.', (fleet) => fleet.endpoints.length);
  family('plimsoll_gateway_service_healthy', 'gauge', 'Of them, those that are fit.', (fleet) => fleet.healthyCount);
  family('plimsoll_gateway_service_in_flight', 'gauge', 'Attempts inside.', (fleet) =>
    sum(fleet, (live) => live.inFlight),
  );
  family('plimsoll_gateway_service_requests_total', 'counter', 'Attempts sent.', (fleet) => fleet.attempts);
}

/** Over all fleets, in one pass: a thousand services are ten thousand endpoints. */
function excludedPage(page: Page, plane: DataPlane): void {
  const counts = new Map<Exclusion, number>();
  for (const fleet of plane.fleets()) {
    for (const { excludedBy } of fleet.endpoints) {
      if (excludedBy !== undefined) counts.set(excludedBy, (counts.get(excludedBy) ?? 0) + 1);
    }
  }
  page.family('plimsoll_gateway_excluded', 'gauge', 'Endpoints that get nothing, by the strongest reason.');
  for (const reason of exclusions) page.sample('plimsoll_gateway_excluded', { reason }, counts.get(reason) ?? 0);
}

function tellingPage(page: Page, plane: DataPlane): void {
  const { stories, exporter } = plane.telling ?? {};
  if (stories !== undefined) {
    page.single('plimsoll_gateway_stories', 'gauge', 'Requests whose story is kept.', stories.size);
    page.single('plimsoll_gateway_stories_total', 'counter', 'Stories written.', stories.written);
  }
  if (exporter === undefined) return;
  page.single('plimsoll_gateway_spans_sent_total', 'counter', 'Spans that the collector took.', exporter.sentSpans);
  page.single('plimsoll_gateway_spans_dropped_total', 'counter', 'Spans it did not.', exporter.droppedSpans);
  page.single('plimsoll_gateway_otlp_failures_total', 'counter', 'Posts that failed.', exporter.failedPosts);
}

/** Of the endpoints beside the services without a label, of each service with its name. */
function admissionPage(page: Page, plane: DataPlane, admissions: Admissions): void {
  const services = plane.services.names().flatMap((service) => {
    const fleet = plane.services.named(service);
    return fleet === undefined ? [] : [{ labels: { service }, admission: admissions.of(fleet) }];
  });
  const beside: Labels = {};
  const all = [{ labels: beside, admission: admissions.of(plane.fleet) }, ...services];
  const family = (name: string, type: 'counter' | 'gauge', help: string, value: (one: Admission) => number): void => {
    page.family(name, type, help);
    for (const { labels, admission } of all) page.sample(name, labels, value(admission));
  };
  const refused = 'plimsoll_gateway_refused_total';
  page.family(refused, 'counter', 'Requests and attempts that found no place, by reason.');
  for (const { labels, admission } of all) {
    for (const reason of refusals) page.sample(refused, { ...labels, reason }, admission.refused[reason]);
  }
  family('plimsoll_gateway_queue', 'gauge', 'Requests that wait for their turn.', (one) => one.waiting);
  family('plimsoll_gateway_queued_total', 'counter', 'Requests let in after waiting.', (one) => one.waited);
  const { concurrency, ceilings } = plane.config.admit;
  if (concurrency !== undefined) {
    const help = 'Requests that latency allows at a time.';
    family('plimsoll_gateway_concurrency_limit', 'gauge', help, (one) => one.concurrencyLimit ?? Infinity);
  }
  if (ceilings === undefined) return;
  page.family('plimsoll_gateway_remaining', 'gauge', 'Places left below each ceiling.');
  for (const { labels, admission } of all) {
    for (const ceiling of ['requests', 'waiting', 'retries'] as const) {
      page.sample('plimsoll_gateway_remaining', { ...labels, ceiling }, admission.remaining(ceiling) ?? 0);
    }
  }
}

interface EndpointFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  write(page: Page, name: string, live: LiveEndpoint, now: Instant): void;
}

const simple = (
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  value: (live: LiveEndpoint, now: Instant) => number,
): EndpointFamily => ({
  name: `plimsoll_gateway_endpoint_${name}`,
  type,
  help,
  write: (page, full, live, now) => page.sample(full, { endpoint: live.endpoint.id }, value(live, now)),
});

const endpointFamilies: readonly EndpointFamily[] = [
  simple('requests_total', 'counter', 'Attempts sent to the endpoint.', (live) => live.requests),
  simple('in_flight', 'gauge', 'Attempts inside the endpoint.', (live) => live.inFlight),
  simple('in_flight_seconds_total', 'counter', 'Time integral of the attempts inside.', (live, now) =>
    live.inFlightSeconds(now),
  ),
  simple('healthy', 'gauge', '1: fit for traffic.', (live) => (live.healthy ? 1 : 0)),
  simple('falls_total', 'counter', 'Times that its checks took it out.', (live) => live.falls),
  simple('ejected', 'gauge', '1: taken out for what it answered.', (live) => (live.ejected ? 1 : 0)),
  simple('ejections_total', 'counter', 'Times it was taken out.', (live) => live.ejections),
  simple('spared_total', 'counter', 'Times it was not, because too many others were out.', (live) => live.spared),
  simple('breaker_open', 'gauge', '1: its breaker is open, or a trial is out.', (live) => (live.tripped ? 1 : 0)),
  simple('trips_total', 'counter', 'Times that its breaker opened.', (live) => live.trips),
  simple('trials_total', 'counter', 'Requests sent to find out whether it may close.', (live) => live.trials),
  simple('connections', 'gauge', 'Connections to the endpoint.', (live) => live.connections),
  simple('idle_connections', 'gauge', 'Of them, those that wait in the pool.', (live) => live.pool.size),
  {
    name: 'plimsoll_gateway_endpoint_errors_total',
    type: 'counter',
    help: 'Attempts that failed, by kind.',
    write: (page, name, live) => {
      for (const kind of endpointErrorKinds) {
        if (live.errors[kind] > 0) page.sample(name, { endpoint: live.endpoint.id, kind }, live.errors[kind]);
      }
    },
  },
];

class Page {
  readonly families: (Family & { readonly samples: { labels: Labels; value: number }[] })[] = [];

  family(name: string, type: 'counter' | 'gauge', help: string): void {
    this.families.push({ name, type, help, samples: [] });
  }

  /** Of the family that was begun last. */
  sample(name: string, labels: Labels, value: number): void {
    const family = this.families.at(-1);
    assert(family?.name === name, 'the samples of a family stand together');
    family.samples.push({ labels, value });
  }

  single(name: string, type: 'counter' | 'gauge', help: string, value: number): void {
    this.family(name, type, help);
    this.sample(name, {}, value);
  }
}

function escaped(text: string): string {
  return escapedHelp(text).replaceAll('"', '\\"');
}

function escapedHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
