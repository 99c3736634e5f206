// What a metric counts, from its name: `http_requests_total`, `rq_total`, `stot`, `served` are requests, `cx_active`, `scur`,
// `open_connections` are connections. Everybody invents names, but from few words; what no rule knows is not guessed.
//
// A name says what is counted, its labels whether it is a failure: `requests_total{code="503"}` counts errors.

export type Measure =
  | 'requests'
  | 'connections'
  | 'inFlight'
  | 'errors'
  | 'meanSeconds'
  | 'cpu'
  | 'bytes'
  | 'queue'
  | 'workers'
  | 'busyWorkers'
  | 'weight'
  | 'healthy'
  | 'place';

interface Meaning {
  readonly measure: Measure;
  readonly yes: RegExp;
  readonly no?: RegExp;
  /** To seconds, or to whatever the measure is in. */
  readonly scale?: number;
}

const never =
  /(?:^|_)(?:max|min|limit|limits|quota|capacity|usage_ratio|timeout|timeouts|throttled|restarts?|memory|heap|gc|retry|retries|dropped|drops|probe|probes|check|checks|interval|threshold|weight_sum)(?:_|$)/;

/** The first that fits counts. Names are in lower case, words joined by `_`. */
const meanings: readonly Meaning[] = [
  { measure: 'place', yes: /^(?:order|position|place|list_?index|idx)$/ },
  { measure: 'weight', yes: /(?:^|_)weight$/ },
  { measure: 'healthy', yes: /(?:^|_)(?:healthy|up|is_up|ready|available|status_ready|passing)$/, no: /count|total/ },
  { measure: 'queue', yes: /(?:^|_)(?:queue|queued|qcur|queue_length|queue_depth|backlog|pending|waiting)$/ },
  {
    measure: 'busyWorkers',
    yes: /(?:workers?|threads?)(?:_\w+)?_(?:busy|active|in_use)$|(?:^|_)busy(?:_(?:workers?|threads?))?$/,
  },
  { measure: 'workers', yes: /(?:^|_)(?:workers?|threads?)(?:_(?:total|count|max|pool_size|size))?$/ },
  {
    measure: 'errors',
    yes: /(?:^|_)(?:errors?|failed|failures?|5xx|hrsp_5xx|errors_5xx|eresp|econ|rq_error|exceptions|http_5xx)(?:_total|_count)?$|_(?:errors|failures)_total$|rq_5xx$/,
    no: /check|health/,
  },
  { measure: 'cpu', yes: /(?:^|_)cpu(?:_|$)/, no: /period|request|count$|limit/ },
  { measure: 'bytes', yes: /(?:^|_)(?:bytes(?:_\w+)?|bin|bout|tx|rx)(?:_total)?$/ },
  {
    measure: 'meanSeconds',
    yes: /(?:^|_)(?:(?:mean|avg|average|p50|median|med)(?:_\w+)?_(?:ms|millis|milliseconds)|(?:duration|latency|time|response_time|rt)_(?:ms|milliseconds)(?:_(?:mean|avg))?|(?:mean|avg)_(?:latency|time|duration)_ms|latency_ms|mean_ms|rtime)$/,
    scale: 1e-3,
  },
  {
    measure: 'meanSeconds',
    yes: /(?:^|_)(?:(?:mean|avg|average)_(?:us|micros)|avg_rt)$/,
    scale: 1e-6,
  },
  {
    measure: 'meanSeconds',
    yes: /(?:^|_)(?:duration|latency|response_time|service_time|handling|request_time|handling_time|time)(?:_seconds|_s)?(?:_(?:mean|avg|average|p50|median))?$|(?:^|_)(?:mean|avg|average)_(?:seconds|s|time|latency|duration)$|^mean$|^avg$/,
    no: /cpu|uptime|total/,
  },
  {
    measure: 'inFlight',
    yes: /(?:^|_)(?:in_?flight|inflight|rq_active|active_requests|outstanding|concurrent_requests|concurrency|active_streams|streams_in_flight)(?:_requests)?$|requests_(?:active|in_flight|in_progress)$/,
  },
  {
    measure: 'connections',
    yes: /(?:^|_)(?:connections?|conns?|cx|scur|established|sockets|sessions|channels)(?:_(?:open|opened|active|established|current|total|accepted))?$|(?:open|active|current|established)_(?:connections|sessions|conns|cx)$|cx_active$|current_sessions$|^sockets_to_peer$/,
    no: /fail|idle|destroy|overflow/,
  },
  {
    measure: 'requests',
    yes: /(?:^|_)(?:requests?|rqs?|reqs?|rpcs?|calls?|queries|hits|started|handled|served|rq_total|stot|lbtot|req_tot|picks|picked|http_responses|tasks)(?:_(?:total|count|received|served|handled|started|per_s|per_second|rate|sum_rate))?$|(?:^|_)(?:rps|qps|throughput)$|requests_total$|^count$/,
    no: /duration|seconds|latency|bytes|time|in_?flight|active|pending/,
  },
];

/** Over which time something was counted is not what was counted: `requests_5m`, `errors_last_minute`. */
const window = /_(?:(?:in_|last_)?\d+(?:s|sec|m|min|h)|last_(?:second|minute|hour|day)|in_window|per_window)$/;

/** What is counted under this name; undefined when no rule knows it. */
export function measureOf(name: string, labels: Readonly<Record<string, string>> = {}): Measure | undefined {
  return meaningOf(name, labels)?.measure;
}

export function meaningOf(name: string, labels: Readonly<Record<string, string>>): Meaning | undefined {
  const plain = snake(name).replace(window, '');
  for (const meaning of meanings) {
    if (!meaning.yes.test(plain) || meaning.no?.test(plain) === true) continue;
    if (meaning.measure !== 'workers' && meaning.measure !== 'weight' && never.test(plain)) return undefined;
    if (meaning.measure === 'requests' && isError(labels)) return { measure: 'errors', yes: meaning.yes };
    return meaning;
  }
  return undefined;
}

function snake(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z\d]+/g, '_')
    .toLowerCase()
    .replaceAll(/^_+|_+$/g, '');
}

const codeLabels = ['code', 'status', 'status_code', 'response_code', 'envoy_response_code', 'http_status', 'class'];
const grpcFailures =
  /^(?:unknown|deadlineexceeded|unimplemented|internal|unavailable|dataloss|resourceexhausted|aborted|error|failure|failed)$/i;

function isError(labels: Readonly<Record<string, string>>): boolean {
  if (codeLabels.some((label) => /^5(?:\d\d|xx)$|^error/i.test(labels[label] ?? ''))) return true;
  return ['grpc_code', 'grpc_status', 'outcome', 'result'].some((label) => grpcFailures.test(labels[label] ?? ''));
}
