// How many tries were made for each request: from two counters, from a proxy's own counters, from a log's column of tries, or from
// two rates over time.

import { measureOf } from './metric-names.ts';
import type { Origin, SampleFact } from '../../record.ts';
import { rowsWhere, sumOf, type View } from './view.ts';

export interface Amplification {
  /** Tries for each request. */
  readonly ratio: number;
  readonly tries: number;
  readonly requests: number;
  /** The same by how requests ended, where it was counted so: `success`, `404`, … */
  readonly byOutcome: readonly {
    readonly outcome: string;
    readonly ratio: number;
    readonly requests: number;
    readonly success: boolean;
  }[];
  /** Servers that a request can be passed on to: so many tries are passing over, no storm. */
  readonly places: number;
  /** The most tries of any single request; undefined when nothing tells single requests apart. */
  readonly most: number | undefined;
  readonly text: string;
  readonly origins: readonly Origin[];
}

export function amplificationOf(view: View): Amplification | undefined {
  return counted(view) ?? byProxy(view) ?? byTiers(view) ?? byLog(view);
}

/** Requests by tier, from the front to the back: what came in, and what was made of it. */
function byTiers(view: View): Amplification | undefined {
  for (const label of ['tier', 'layer', 'hop', 'level']) {
    const own = view.dossier.samples.filter(
      ({ name, labels }) => label in labels && measureOf(name, labels) === 'requests',
    );
    const counts = [...growthBy(own, label)];
    const [front, back] = [counts[0], counts.at(-1)];
    if (front === undefined || back === undefined || counts.length < 2 || front[1] <= 0) continue;
    // A tier may ask several others for one request: it takes a setting to call that trying again.
    if (triesAllowed(view) === undefined) continue;
    if (!counts.every(([, count], at) => at === 0 || count >= (counts[at - 1]?.[1] ?? 0))) continue;
    return {
      ratio: back[1] / front[1],
      tries: back[1],
      requests: front[1],
      byOutcome: [],
      places: 1,
      most: undefined,
      text: counts.map(([tier, count]) => `${tier} ${count}`).join(' → '),
      origins: own.slice(0, 2).map(({ origin }) => origin),
    };
  }
  return undefined;
}

const triesName =
  /(upstream|attempt|tries|outbound|backend|downstream_call|provider)\w*(calls?|requests?|attempts?|tries)\w*_total$|attempts?_total$|tries_total$|upstream_calls?(_total)?$/;
const requestsName = /(requests?|inbound|originals?|rpcs?)(_received|_in)?_total$|client_requests(_total)?$/;
const outcomeLabels = ['outcome', 'result', 'code', 'status', 'status_code', 'class'];

/** Two counters with one label in common: what came in, what went out. */
function counted(view: View): Amplification | undefined {
  const out = view.dossier.samples.filter(({ name }) => triesName.test(name.toLowerCase()));
  const into = view.dossier.samples.filter(
    ({ name }) => requestsName.test(name.toLowerCase()) && !triesName.test(name.toLowerCase()),
  );
  if (out.length === 0 || into.length === 0) return undefined;
  const label = outcomeLabels.find(
    (one) =>
      out.some(({ labels }) => labels[one] !== undefined) && into.some(({ labels }) => labels[one] !== undefined),
  );
  const tries = growthBy(out, label);
  const requests = growthBy(into, label);
  const all = sumOf([...tries.values()]);
  const whole = sumOf([...requests.values()]);
  if (whole <= 0) return undefined;
  const byOutcome =
    label === undefined
      ? []
      : [...requests].flatMap(([outcome, count]) => {
          const made = tries.get(outcome);
          return made === undefined || count <= 0
            ? []
            : [{ outcome, ratio: made / count, requests: count, success: /^(?:2|ok|success)/i.test(outcome) }];
        });
  return {
    ratio: all / whole,
    tries: all,
    requests: whole,
    byOutcome,
    places: 1,
    most: undefined,
    text: `${all} tries for ${whole} requests`,
    origins: [...into.slice(0, 1), ...out.slice(0, 1)].map(({ origin }) => origin),
  };
}

function growthBy(samples: readonly SampleFact[], label: string | undefined): Map<string, number> {
  const sums = new Map<string, number>();
  for (const own of Map.groupBy(samples, ({ name, labels }) => `${name} ${JSON.stringify(labels)}`).values()) {
    const ordered = own.toSorted((one, other) => one.reading - other.reading);
    const first = ordered[0];
    const last = ordered.at(-1);
    if (first === undefined || last === undefined) continue;
    const value = first === last ? last.value : Math.max(0, last.value - first.value);
    const key = label === undefined ? '' : (last.labels[label] ?? '');
    sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return sums;
}

/** Envoy's `upstream_rq_retry` beside `upstream_rq_total` (which has the retries in it), HAProxy's `wretr` beside `stot`. */
function byProxy(view: View): Amplification | undefined {
  const pairs = [
    [/upstream_rq_retry$/, /upstream_rq_total$/],
    [/^haproxy_wretr$/, /^haproxy_stot$/],
  ] as const;
  for (const [retriesName, totalName] of pairs) {
    const server = (labels: Readonly<Record<string, string>>): boolean => (labels['type'] ?? 'server') === 'server';
    const retries = view.total((name, labels) => retriesName.test(name) && server(labels));
    const total = view.total((name, labels) => totalName.test(name) && server(labels));
    if (retries === undefined || total === undefined || total.value <= retries.value || retries.value === 0) continue;
    const requests = total.value - retries.value;
    return {
      ratio: total.value / requests,
      tries: total.value,
      requests,
      byOutcome: [],
      places: 1,
      most: undefined,
      text: `${total.value} tries, ${retries.value} of them retries`,
      origins: retries.origins,
    };
  }
  return undefined;
}

/** A log that says how many tries each request took. */
function byLog(view: View): Amplification | undefined {
  const found = view.tables.flatMap((table): Amplification[] => {
    const rows = rowsWhere(table, (row) => (table.attempts[row] ?? -1) >= 1);
    if (rows.length === 0) return [];
    const sums = new Map<boolean, { tries: number; count: number }>();
    let most = 0;
    let tries = 0;
    for (const row of rows) {
      const own = table.attempts[row] ?? 0;
      const success = (table.status[row] ?? 0) < 400;
      const sum = sums.get(success) ?? { tries: 0, count: 0 };
      sums.set(success, { tries: sum.tries + own, count: sum.count + 1 });
      most = Math.max(most, own);
      tries += own;
    }
    const byOutcome = [...sums].map(([success, { tries: made, count }]) => ({
      outcome: success ? 'success' : 'failure',
      ratio: made / count,
      requests: count,
      success,
    }));
    return [
      {
        ratio: tries / rows.length,
        tries,
        requests: rows.length,
        byOutcome,
        places: Math.max(1, table.replicas.length, view.number('upstream.endpoints') ?? 1),
        most,
        text: `${tries} tries for ${rows.length} requests in ${table.origin.file}`,
        origins: [table.origin],
      },
    ];
  });
  return found.toSorted((one, other) => other.ratio - one.ratio)[0];
}

/** What one request may at most cost by the settings: retries + 1, tier by tier; undefined when nothing bounds it. */
export function triesAllowed(view: View): { readonly value: number; readonly text: string } | undefined {
  const all = view
    .settings('route.retries')
    .filter(({ value, implied }) => typeof value === 'number' && Number.isFinite(value) && (!implied || value > 0));
  const byPlace = new Map(
    all.map((setting) => [`${setting.program} ${setting.origin.file}`, Number(setting.value) + 1]),
  );
  const tiers = [...byPlace.values()].filter((tries) => tries > 1);
  if (tiers.length === 0) return undefined;
  const value = tiers.reduce((product, tries) => product * tries, 1);
  return { value, text: `${tiers.join(' × ')} = ${value} tries` };
}
