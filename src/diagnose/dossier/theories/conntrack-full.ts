// The kernel’s table of connections is full; packets of new ones are dropped.

import type { Origin, SettingKey } from '../../../record.ts';
import { percent, say } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { sumOf, type View } from '../view.ts';
import { type Count, growthOfCounter, highest, names } from '../view-kernel.ts';
import { runsOf } from '../view-load.ts';
import { nativeName, sayTime } from '../view-words.ts';

export const conntrackFull: DossierTheory = {
  slug: 'conntrack-full',
  title: 'Connection tracking table full',
  mechanism:
    'A host that tracks connections keeps an entry for each, and for a while after it has ended: how long depends on the state. ' +
    'When rate × time exceeds the table, the kernel drops the packets of new connections. The entries are not sockets, so ss ' +
    'and netstat show nothing of them.',
  refutedBy: 'A table with room, and a kernel log without drops.',
  provedBy: 'The count at its maximum, or the kernel’s own words: table full, dropping packet.',
  lookAlikes: ['proxy-port-exhaustion', 'generator-port-exhaustion', 'a leak of sockets', 'accept-queue-overflow'],
  fix: 'Lower the timeout of the state that fills it, keep connections alive, exempt local traffic from tracking; only then size the table.',
  decidedBy: 'nf_conntrack_count against nf_conntrack_max during the symptom, entries by state, and the kernel log',
  explains: ['retry-storm', 'unreachable-target'],

  examine(view) {
    const said = [
      ...view.messages('conntrack-full'),
      ...view.messagesLike(/conntrack: (?:nf_conntrack: )?table full/),
    ].filter((one, index, all) => all.indexOf(one) === index);
    const count = countOf(view);
    const max = highest(view, names.conntrackMax) ?? settingMax(view);
    if (said.length === 0 && (count === undefined || max === undefined)) return undefined;
    const states = statesOf(view);
    const culprit = timeoutOf(view, states?.most);
    const rate = rateOf(view);
    const wanted = culprit === undefined || rate === undefined ? undefined : rate * culprit.seconds;
    const drops = growthOfCounter(view, names.conntrackDrops);
    const share = count === undefined || max === undefined ? undefined : count.value / max.value;
    return {
      claims: [
        claim('The table is full.', {
          bearing: 'sufficient',
          predicted: max === undefined ? 'at its maximum' : `${max.value}, within 2 %`,
          refutes: 'a table with room',
          seen:
            share === undefined || count === undefined
              ? undefined
              : {
                  text: `${count.value} of ${max?.value ?? 0} (${percent(share)})`,
                  holds: share >= 0.98,
                  origins: count.origins,
                },
          missing: 'nf_conntrack_count and nf_conntrack_max at the time',
        }),
        claim('The kernel said that it drops packets for want of an entry.', {
          bearing: 'sufficient',
          predicted: 'table full, dropping packet',
          refutes: 'no such message',
          seen:
            said.length === 0
              ? undefined
              : { text: `${said.length} times`, holds: true, origins: said.slice(0, 2).map((one) => one.origin) },
          missing: 'the kernel log',
        }),
        claim('The table was near its limit, whatever else was said.', {
          bearing: 'necessary',
          predicted: 'above 80 %, or a message of the kernel',
          refutes: 'half of it free',
          seen: share === undefined ? undefined : { text: percent(share), holds: share >= 0.8 || said.length > 0 },
          missing: 'the count at the time',
        }),
        claim('Rate × time of an entry exceeds the table.', {
          bearing: 'supporting',
          predicted: max === undefined ? 'more than the table' : `more than ${max.value}`,
          refutes: 'entries that fit',
          seen:
            wanted === undefined || max === undefined
              ? undefined
              : {
                  text: `${say(rate ?? 0, 'requests/s')} × ${sayTime(culprit?.seconds ?? 0)} = ${wanted.toFixed(0)}`,
                  holds: wanted > max.value,
                },
          missing: 'new connections a second, and the timeout of the state',
        }),
        claim('One state that no socket has fills it.', {
          bearing: 'supporting',
          predicted: 'most entries in one state of connections that have ended',
          refutes: 'live connections',
          seen:
            states === undefined
              ? undefined
              : {
                  text: `${states.most}: ${percent(states.share)}`,
                  holds: states.share > 0.5 && states.most !== 'ESTABLISHED',
                  origins: states.origins,
                },
          missing: 'entries by state',
        }),
        claim('Packets were dropped.', {
          bearing: 'supporting',
          predicted: 'growth',
          refutes: 'none',
          seen:
            drops === undefined
              ? undefined
              : { text: `+${drops.value}`, holds: drops.value > 0, origins: drops.origins },
          missing: 'drop counters of the table (conntrack -S)',
        }),
      ],
      culprit:
        culprit === undefined ? `nf_conntrack_max ${max?.value ?? ''}`.trim() : `${culprit.name}=${culprit.seconds}`,
      sentence:
        `The table of connections is full${max === undefined ? '' : ` at ${max.value}`}` +
        (states === undefined ? '' : `, ${percent(states.share)} of it ${states.most}`) +
        (culprit === undefined
          ? '; new connections are dropped.'
          : ` entries that are kept for ${sayTime(culprit.seconds)}; new connections are dropped.`),
      arithmetic: [
        ...(wanted === undefined || max === undefined
          ? []
          : [
              `${say(rate ?? 0, 'requests/s')} × ${sayTime(culprit?.seconds ?? 0)} = ${wanted.toFixed(0)} entries wanted, ${max.value} there`,
            ]),
        ...(rate === undefined || max === undefined
          ? []
          : [`${max.value} ÷ ${say(rate, 'requests/s')} = full after ${sayTime(max.value / rate)}`]),
      ],
    };
  },
};

/** The count as the kernel gives it, or the sum of its entries by state. */
function countOf(view: View): Count | undefined {
  const byState = view.dossier.samples.filter(
    ({ name, labels }) => /conntrack/.test(name) && labels['state'] !== undefined,
  );
  const told = highest(view, names.conntrackCount, ({ labels }) => labels['state'] === undefined);
  if (told !== undefined || byState.length === 0) return told;
  const value = sumOf(byState.map((sample) => sample.value));
  return { value, text: `${value} entries of all states`, origins: byState.slice(0, 1).map(({ origin }) => origin) };
}

function settingMax(view: View): { value: number; text: string; origins: readonly Origin[] } | undefined {
  const setting = view.setting('kernel.conntrack-max');
  return typeof setting?.value === 'number'
    ? { value: setting.value, text: String(setting.value), origins: [setting.origin] }
    : undefined;
}

function statesOf(view: View): { most: string; share: number; origins: readonly Origin[] } | undefined {
  const samples = view.dossier.samples.filter(
    ({ name, labels }) => /conntrack/.test(name) && labels['state'] !== undefined,
  );
  const whole = samples.reduce((sum, one) => sum + one.value, 0);
  const [most] = samples.toSorted((one, other) => other.value - one.value);
  return most === undefined || whole === 0
    ? undefined
    : { most: (most.labels['state'] ?? '').toUpperCase(), share: most.value / whole, origins: [most.origin] };
}

/** Settings by state, and the kernel’s own times where nobody set one. */
const timeouts = {
  CLOSE_WAIT: { key: 'kernel.conntrack-timeout-close-wait', usual: 60 },
  TIME_WAIT: { key: 'kernel.conntrack-timeout-time-wait', usual: 120 },
  ESTABLISHED: { key: 'kernel.conntrack-timeout-established', usual: 432_000 },
} as const satisfies Readonly<Record<string, { readonly key: SettingKey; readonly usual: number }>>;

/** The timeout of the state that fills the table; where states are not known, one that was raised far above the kernel’s. */
function timeoutOf(view: View, state: string | undefined): { name: string; seconds: number } | undefined {
  for (const [name, { key, usual }] of Object.entries(timeouts)) {
    const setting = view.setting(key);
    if (typeof setting?.value !== 'number') continue;
    if (state === name || (state === undefined && setting.value > 10 * usual)) {
      return { name: nativeName(setting), seconds: setting.value };
    }
  }
  return undefined;
}

function rateOf(view: View): number | undefined {
  const rates = [view.number('load.rate') ?? 0, ...runsOf(view).flatMap(({ achieved }) => achieved ?? [])];
  const most = Math.max(...rates);
  if (most > 0) return most;
  return view.greatest((name) => /requests_per_s$|requests_per_second$|connections_per_s\w*$|rps$/.test(name))?.value;
}
