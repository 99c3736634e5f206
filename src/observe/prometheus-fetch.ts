// A Prometheus asked for everything that may speak to an incident: first which metrics it has, then those whose names say that they
// are about requests, connections, queues, pools, processors or the kernel, over the time of the incident.
//
//   GET /api/v1/label/__name__/values?start&end          which there are
//   GET /api/v1/query_range?query=…&start&end&step        each of them, a few at a time
//
// The answers are handed on as one text in the format of the API, so that a saved answer and a fetched one are read by the same
// reader. What went wrong with one metric is said and does not keep the others; what goes wrong with all of them is an error.

import { z } from 'zod';

export interface PrometheusQuery {
  /** Where it is: `http://prometheus:9090`, with whatever path stands before `/api/v1`. */
  readonly url: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Seconds between two values; undefined: so that there are about 240 of them. */
  readonly stepSeconds?: number;
  /** Seconds for one question. */
  readonly patienceSeconds?: number;
}

export interface PrometheusAnswer {
  /** In the format of the HTTP API: one matrix with every series that came. */
  readonly text: string;
  readonly series: number;
  readonly remarks: readonly string[];
}

export type PrometheusFetched = { readonly answer: PrometheusAnswer } | { readonly problem: string };

const metricsMax = 400;
const seriesMax = 2000;
const pointsMax = 11_000;
const together = 4;

/** Asks. Never throws for what the server does: then there is a `problem`, in one sentence. */
export async function fetchPrometheus(query: PrometheusQuery): Promise<PrometheusFetched> {
  const seconds = (query.toMs - query.fromMs) / 1000;
  if (!(seconds > 0)) return { problem: 'the time ends before it begins; expected --from before --to' };
  const step = query.stepSeconds ?? Math.max(1, Math.ceil(seconds / 240));
  if (seconds / step > pointsMax) {
    return {
      problem: `${Math.ceil(seconds / step)} values a series are more than the ${pointsMax} that Prometheus gives; expected a longer --step`,
    };
  }
  const listed = await ask(query, `label/__name__/values?${window(query)}`, namesShape);
  if ('problem' in listed) return listed;
  const known = listed.data.filter((name) => isTelling(name));
  const remarks = [...listed.warnings];
  if (listed.data.length === 0) {
    return {
      problem: `${query.url} has no metric between ${when(query.fromMs)} and ${when(query.toMs)}; expected a time that it has kept`,
    };
  }
  if (known.length > metricsMax) {
    remarks.push(
      `${known.length} metrics of ${listed.data.length} would tell something; the first ${metricsMax} were asked for`,
    );
  }
  const chosen = known.slice(0, metricsMax);
  const found: unknown[] = [];
  const failed: string[] = [];
  await inTurns(chosen, async (name) => {
    const selector = encodeURIComponent(`{__name__="${name}"}`);
    const got = await ask(query, `query_range?query=${selector}&${window(query)}&step=${step}`, matrixShape);
    if ('problem' in got) failed.push(`${name}: ${got.problem}`);
    else {
      remarks.push(...got.warnings.map((warning) => `${name}: ${warning}`));
      found.push(...got.data.result);
    }
  });
  if (failed.length > 0 && failed.length === chosen.length)
    return { problem: `nothing was answered: ${failed[0] ?? ''}` };
  if (failed.length > 0) {
    remarks.push(
      `${failed.length} of ${chosen.length} metrics were not answered, and are missing: ${failed.slice(0, 3).join('; ')}`,
    );
  }
  if (found.length > seriesMax) remarks.push(`${found.length} series; only ${seriesMax} of them are looked at`);
  remarks.unshift(
    `${chosen.length} of ${listed.data.length} metrics asked for, every ${step} s: ${found.length} series`,
  );
  const result = found.slice(0, seriesMax);
  const text = `${JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } })}\n`;
  return { answer: { text, series: result.length, remarks: [...new Set(remarks)] } };
}

/** What Prometheus writes around every answer. */
const envelope = z.object({
  status: z.enum(['success', 'error']),
  data: z.unknown().optional(),
  errorType: z.string().optional(),
  error: z.string().optional(),
  warnings: z.array(z.string()).optional(),
});
const namesShape = z.array(z.string());
const matrixShape = z.object({ resultType: z.literal('matrix'), result: z.array(z.unknown()) });

type Asked<Data> = { readonly data: Data; readonly warnings: readonly string[] } | { readonly problem: string };

async function ask<Data>(
  { url, patienceSeconds = 10 }: PrometheusQuery,
  path: string,
  shape: z.ZodType<Data>,
): Promise<Asked<Data>> {
  const whole = `${url.replace(/\/+$/, '')}/api/v1/${path}`;
  let status: number;
  let body: unknown;
  try {
    const response = await fetch(whole, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(patienceSeconds * 1000),
    });
    status = response.status;
    const text = await response.text();
    body = parsed(text);
  } catch (error) {
    return { problem: `${url} ${reasonOf(error, patienceSeconds)}` };
  }
  const answer = envelope.safeParse(body);
  if (!answer.success)
    return { problem: `${url} answered ${status} and no JSON of Prometheus; expected the address of its HTTP API` };
  const { data, error, errorType, warnings = [] } = answer.data;
  if (answer.data.status === 'error')
    return { problem: `${url} answered ${status} (${errorType ?? 'error'}): ${error ?? 'no reason given'}` };
  const fits = shape.safeParse(data);
  return fits.success
    ? { data: fits.data, warnings }
    : { problem: `${url} answered in another shape than was asked for` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown, patienceSeconds: number): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `did not answer within ${patienceSeconds} s`;
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  if (code === 'ECONNREFUSED') return 'refuses connections: nobody listens there';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'has a name that does not resolve';
  return `could not be asked (${code ?? (error instanceof Error ? error.message : String(error))})`;
}

function window({ fromMs, toMs }: PrometheusQuery): string {
  return `start=${fromMs / 1000}&end=${toMs / 1000}`;
}

function when(ms: number): string {
  return new Date(ms).toISOString();
}

/** A few at a time: a Prometheus in trouble is part of many incidents. */
async function inTurns(names: readonly string[], one: (name: string) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < names.length) {
      const name = names[next] ?? '';
      next += 1;
      await one(name);
    }
  };
  await Promise.all(Array.from({ length: Math.min(together, names.length) }, lane));
}

/** Whole families that a balancer, a mesh, a server, a pool or a kernel counts. */
const families =
  /^(?:envoy_(?:cluster|http|server|listener)|haproxy_|nginx_|traefik_|istio_|plimsoll_|grpc_|hikaricp_|jdbc_|tomcat_|jetty_|gunicorn_|puma_|uwsgi_|phpfpm_|pgbouncer_|pg_stat_activity|mysql_global_status_threads|go_sql_|db_client_|http_(?:server|client|requests?)|container_cpu_|container_(?:network|memory_failcnt)|kube_(?:pod_container_status|deployment_status|hpa|horizontalpodautoscaler)|node_(?:nf_conntrack|netstat_Tcp|sockstat|pressure|cpu_seconds|load|filefd)|process_(?:cpu|open_fds|max_fds)|jvm_gc_pause|nodejs_eventloop)/;
/** Words of whatever else may matter. */
const words =
  /(?:^|_)(?:requests?|rpcs?|calls|attempts?|retries|retry|errors?|failures?|latency|duration|response_time|connections?|in_?flight|queue|backlog|pending|waiting|pool|workers?|threads_(?:busy|max)|healthy|ejections?|timeouts?|throttled|steal|dropped|overflow|dns|lookup|up)(?:_|$)/;
/** Parts of distributions: so many series that nothing else would fit; and what Prometheus counts of itself. */
const never =
  /_bucket$|_created$|^(?:prometheus|alertmanager|scrape|go_memstats|go_gc|promhttp|net_conntrack_dialer|net_conntrack_listener)_/;

function isTelling(name: string): boolean {
  return !never.test(name) && (families.test(name) || words.test(name));
}
