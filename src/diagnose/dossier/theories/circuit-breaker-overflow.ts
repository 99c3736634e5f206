// The proxy itself refuses what goes beyond its own bound; nobody behind it was asked.

import type { SettingFact, SettingKey } from '../../../record.ts';
import { percent } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { flagOf, rowsWhere, type View } from '../view.ts';
import { nativeName, ownerOf, sayCountSetting, sayPart, sayTime } from '../view-words.ts';
import { greatestOf } from '../view-rows.ts';

export const circuitBreakerOverflow: DossierTheory = {
  slug: 'circuit-breaker-overflow',
  title: 'Circuit breaker overflow: refused by the proxy’s own bound',
  mechanism:
    'A proxy bounds how many requests, connections or waiting requests it has to one upstream. What goes beyond is refused at ' +
    'once and never reaches a server. The bounds that nobody wrote are in force too, so raising one of them lets the next one bind. ' +
    'The gauges that say “open” show the moment at which they are read, and are zero again when the rush is over.',
  refutedBy: 'Refusals that a server answered, or that took as long as work.',
  provedBy: 'The proxy’s own flag or counter of overflow, as often as there were refusals.',
  lookAlikes: ['errors of the backend', 'all-ejected-no-panic', 'panic-mode', 'dependency-pool-exhaustion'],
  fix: 'Set every bound together, from rate × latency (Little) with room above it, or let requests wait for a connection instead; read counters, not gauges.',
  decidedBy: 'the growth of the proxy’s overflow counters during the failures, and its bounds',
  explains: ['closed-loop-artifact', 'passive-eviction-last-peer'],

  examine(view) {
    const flagged = flaggedOf(view);
    const counted = countedOf(view);
    const told = view.messagesLike(overflowText);
    if (flagged === undefined && counted === undefined && told.length === 0) return undefined;
    const overflow = counted?.value ?? 0;
    const binding = bindingOf(view, counted?.cluster);
    const failures = failuresOf(view);
    const healthy = view.gauge((name) => name.endsWith('membership_healthy'));
    const members = view.gauge((name) => name.endsWith('membership_total'));
    const peak = demandOf(view);
    const served = view.total(
      (name, labels) =>
        name.endsWith('upstream_rq_total') &&
        (counted?.cluster === undefined || labels['envoy_cluster_name'] === counted.cluster),
    );
    return {
      claims: [
        claim('What was refused never reached a server.', {
          bearing: 'necessary',
          predicted: 'no server, no time',
          refutes: 'refusals that a server answered',
          seen:
            flagged === undefined
              ? undefined
              : {
                  text: `${flagged.unasked} of ${flagged.count} without a server, the slowest after ${sayTime(flagged.slowest)}`,
                  holds: flagged.unasked >= 0.9 * flagged.count,
                  origins: flagged.origins,
                },
          missing: 'an access log with the proxy’s flags',
        }),
        claim('The proxy says so itself: overflow.', {
          bearing: 'sufficient',
          predicted: failures === undefined ? 'at least one' : `about ${failures.value}, as many as were refused`,
          refutes: 'no overflow',
          seen:
            flagged === undefined && counted === undefined
              ? undefined
              : {
                  text: [
                    counted === undefined ? undefined : `${counted.name} grew by ${overflow}`,
                    flagged === undefined
                      ? undefined
                      : `${sayPart(flagged.count, flagged.of)} requests flagged ${flagged.flag}`,
                  ]
                    .filter((text) => text !== undefined)
                    .join('; '),
                  holds: flagged !== undefined || enough(overflow, failures?.value, served?.value),
                  origins: [...(counted?.origins ?? []), ...(flagged?.origins ?? [])].slice(0, 4),
                },
          missing: 'the proxy’s overflow counters',
        }),
        claim('Whoever was refused was told so.', {
          bearing: 'sufficient',
          predicted: 'overflow, or a full bulkhead, as the reason',
          refutes: 'another reason',
          seen:
            told.length === 0
              ? undefined
              : {
                  text: `${told.length} × ${told[0]?.text.slice(0, 100) ?? ''}`,
                  holds: true,
                  origins: told.slice(0, 2).map((one) => one.origin),
                },
          missing: 'the error texts of whoever was refused',
        }),
        claim('The servers behind it were fit.', {
          bearing: 'supporting',
          predicted: members === undefined ? 'all of them healthy' : `${members.value} healthy`,
          refutes: 'hardly any of them',
          seen:
            healthy === undefined || members === undefined
              ? undefined
              : {
                  text: `${healthy.value} of ${members.value} healthy`,
                  holds: healthy.value > members.value / 2,
                  origins: healthy.origins,
                },
          missing: 'health of the members',
        }),
        claim('Demand stood at the bound.', {
          bearing: 'supporting',
          predicted: binding === undefined ? 'at a bound' : `at least ${String(binding.value)}`,
          refutes: 'demand far below every bound',
          seen:
            peak === undefined || binding === undefined
              ? undefined
              : { text: peak.text, holds: peak.value >= Number(binding.value) * 0.98 },
          missing: 'requests in flight at the time of the refusals (a gauge read afterwards says nothing)',
        }),
      ],
      culprit:
        binding === undefined
          ? counted?.cluster === undefined
            ? undefined
            : `cluster ${counted.cluster}: a bound of its circuit breaker`
          : `${ownerOf(binding)}: ${nativeName(binding)} ${String(binding.value)}${binding.implied ? ' (default)' : ''}`,
      sentence:
        `The proxy refused ${overflow > 0 ? overflow : (flagged?.count ?? 0)} requests itself` +
        (binding === undefined
          ? ''
          : `, because ${nativeName(binding)} is ${String(binding.value)}${binding.implied ? ', the default that nobody changed' : ''}`) +
        '; no server was asked.',
      arithmetic: [
        ...(binding === undefined || peak === undefined ? [] : [`${peak.text}, bound ${sayCountSetting(binding)}`]),
        ...(counted === undefined || served === undefined
          ? []
          : [
              `${overflow} refused ÷ (${overflow} + ${served.value} passed on) = ${percent(overflow / (overflow + served.value))}`,
            ]),
        ...(flagged === undefined
          ? []
          : [
              `${flagged.count} ÷ ${flagged.of} = ${percent(flagged.count / flagged.of)} of the logged requests refused`,
            ]),
      ],
    };
  },
};

/** What proxies and libraries say when their own bound refuses. A breaker that is open because calls failed is another thing. */
const overflowText =
  /reset reason: overflow|x-envoy-overloaded|bulkhead '?[\w-]*'? ?is full|could not acquire a semaphore for execution|could not be queued for execution|max(?:imum)? concurrent requests (?:reached|exceeded)/i;

interface Flagged {
  readonly flag: string;
  readonly count: number;
  readonly of: number;
  readonly unasked: number;
  readonly slowest: number;
  readonly origins: readonly { file: string; line?: number }[];
}

/** Envoy's UO, and HAProxy's queue that was full or too slow in front of a bounded server. */
const overflowFlag = /(?:^|,)UO\b|overflow|^sQ|^PQ/;

function flaggedOf(view: View): Flagged | undefined {
  for (const table of view.tables) {
    const known = new Set(table.flags.flatMap((flag, index) => (overflowFlag.test(flag) ? [index] : [])));
    if (known.size === 0) continue;
    const rows = rowsWhere(table, (row) => known.has(table.flag[row] ?? -1));
    const [first] = rows;
    if (first === undefined) continue;
    const flag = flagOf(table, first);
    // Who waited in a queue for a place was not at a server either, but it took time.
    const unasked = rows.filter((row) => Number.isNaN(table.upstreamSeconds[row] ?? Number.NaN)).length;
    const slowest = greatestOf(rows.map((row) => table.seconds[row] ?? 0));
    return { flag, count: rows.length, of: table.count, unasked, slowest, origins: [table.origin] };
  }
  return undefined;
}

interface Counted {
  readonly name: string;
  readonly value: number;
  readonly cluster: string | undefined;
  readonly origins: readonly { file: string; line?: number }[];
}

const overflowCounter =
  /(?:rq_pending_overflow|cx_overflow|cx_pool_overflow|rq_retry_overflow|rq_overflow|requests_overflow|bulkhead_rejected\w*|circuit_?breaker_(?:rejected|not_permitted)\w*|not_permitted_calls\w*)$/;

/** The overflow counter that grew most; undefined when none grew. */
function countedOf(view: View): Counted | undefined {
  const names = new Set(
    view.dossier.samples.map((sample) => sample.name.toLowerCase()).filter((name) => overflowCounter.test(name)),
  );
  const counted = [...names].flatMap((wanted): Counted[] => {
    const total = view.total((name) => name === wanted);
    if (total === undefined || total.value <= 0) return [];
    const busiest = view.dossier.samples
      .filter((sample) => sample.name.toLowerCase() === wanted)
      .toSorted((one, other) => other.value - one.value)[0];
    return [
      { name: wanted, value: total.value, cluster: busiest?.labels['envoy_cluster_name'], origins: total.origins },
    ];
  });
  return counted.toSorted((one, other) => other.value - one.value)[0];
}

/** Counters must reach a good part of what was refused, and one in a thousand of what was asked. */
function enough(overflow: number, failures: number | undefined, passed: number | undefined): boolean {
  if (failures !== undefined && overflow < 0.5 * failures) return false;
  return overflow > 0 && (passed === undefined || overflow >= 0.001 * (passed + overflow));
}

/** Requests refused with 503 as somebody else counted them. */
function failuresOf(view: View): { readonly value: number } | undefined {
  const reported = view.results.flatMap((result) => result.statuses?.['503'] ?? []);
  if (reported.length > 0) return { value: Math.max(...reported) };
  const counted = view.total((name, labels) => name.endsWith('upstream_rq') && labels['envoy_response_code'] === '503');
  return counted === undefined || counted.value === 0 ? undefined : { value: counted.value };
}

const bounds: readonly (readonly [SettingKey, RegExp])[] = [
  ['breaker.max-requests', /rq_active$/],
  ['breaker.max-pending', /rq_pending_active$/],
  ['breaker.max-connections', /cx_active$/],
  ['upstream.endpoint-max-requests', /haproxy_scur$/],
];

/** The bound that a gauge stands at; else the smallest. */
function bindingOf(view: View, cluster: string | undefined): SettingFact | undefined {
  const here = (setting: SettingFact): boolean =>
    !/high priority/.test(setting.scope) && (cluster === undefined || setting.scope.includes(cluster));
  const all = bounds.flatMap(([key, gauge]) =>
    view
      .settings(key)
      .filter((setting) => here(setting) && typeof setting.value === 'number')
      .map((setting) => ({
        setting,
        standing: view.greatest((name) => gauge.test(name) && !/max|limit/.test(name))?.value,
      })),
  );
  const full = all.find(({ setting, standing }) => standing !== undefined && standing >= Number(setting.value) * 0.98);
  const least = all.toSorted((one, other) => Number(one.setting.value) - Number(other.setting.value))[0];
  return (full ?? least)?.setting;
}

/** What wanted to be in flight at once: the gauge at its highest, or what a load generator had open. */
function demandOf(view: View): { readonly value: number; readonly text: string } | undefined {
  const active = view.greatest((name) => name.endsWith('upstream_rq_active'));
  if (active !== undefined && active.value > 0) return { value: active.value, text: `${active.value} in flight` };
  const users = view.results.flatMap((result) => result.connections ?? result.users ?? []);
  return users.length === 0 ? undefined : { value: Math.max(...users), text: `${Math.max(...users)} at once` };
}
