// One failure takes out the only server that works, for as long as the penalty lasts.

import type { RequestTable } from '../../../record.ts';
import { digits, listed } from '../../wording.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const passiveEvictionLastPeer: DossierTheory = {
  slug: 'passive-eviction-last-peer',
  title: 'Passive eviction of the last peer: one failure, and nobody is left for the length of the penalty',
  mechanism:
    'A proxy that counts failures takes a server out for fail_timeout after max_fails of them. In a group of one it never ' +
    'would; but a placeholder that is down, or a second server that is out, makes it a group of two, and then one reset takes ' +
    'out the only server that works. The proxy answers by itself, at once, until the penalty is over.',
  refutedBy: 'An outage of another length than the penalty, or servers that go on failing when they are asked.',
  provedBy: 'As many real failures as max_fails, then answers without any server for exactly fail_timeout.',
  lookAlikes: ['an outage of the backend', 'health-check-on-shared-workers', 'keepalive-race', 'discovery-outage'],
  fix: 'max_fails=0 on the only server that works, or more failures before it is out; leave out placeholders; retry once on another connection.',
  decidedBy: 'the error log around the first failure, and the servers of the group',
  explains: ['keepalive-race', 'all-ejected-no-panic', 'drain-race'],

  examine(view) {
    const outage = outageIn(view);
    if (outage === undefined) return undefined;
    const penalty =
      view.setting('upstream.fail-timeout', ({ scope }) => scope.includes(outage.group)) ??
      view.setting('upstream.fail-timeout');
    const fails =
      view.setting('upstream.max-fails', ({ scope }) => scope.includes(outage.group)) ??
      view.setting('upstream.max-fails');
    const seconds = typeof penalty?.value === 'number' ? penalty.value : 10;
    const count = typeof fails?.value === 'number' ? fails.value : 1;
    const usable = usableIn(view, outage.group);
    const slack = Math.max(0.5, outage.stepSeconds) + Math.min(outage.gapSeconds, seconds / 2);
    return {
      claims: [
        claim('The proxy answered by itself: it asked no server.', {
          bearing: 'necessary',
          predicted: 'failures without a server, beside at least one with',
          refutes: 'failures that servers made',
          seen: {
            text: `${outage.without} without a server, ${outage.real} with`,
            holds: outage.without >= 3,
            origins: outage.origins,
          },
        }),
        claim('It began with as few real failures as the setting says.', {
          bearing: 'necessary',
          predicted: `about ${digits(count)} for each server`,
          refutes: 'a long row of real failures',
          seen: {
            text: `${outage.realBefore} before, in each of ${outage.episodes}`,
            holds: outage.realBefore <= Math.max(2, 2 * count * Math.max(1, usable?.usable ?? 1)),
          },
        }),
        claim('It lasted as long as the penalty.', {
          bearing: 'sufficient',
          predicted: `${digits(seconds)} s ± ${digits(slack)} s`,
          refutes: 'another length',
          seen: { text: `${digits(outage.seconds)} s`, holds: Math.abs(outage.seconds - seconds) <= slack },
        }),
        claim('Only one server of the group was usable.', {
          bearing: 'supporting',
          predicted: 'one',
          refutes: 'several servers that are up',
          seen:
            usable === undefined
              ? undefined
              : { text: usable.text, holds: usable.usable <= 1, origins: usable.origins },
          missing: 'the servers of the group',
        }),
        claim('The server answers before and right after.', {
          bearing: 'supporting',
          predicted: 'success on both sides of the outage',
          refutes: 'a server that is down',
          seen: outage.around,
          missing: 'the access log around the outage',
        }),
      ],
      culprit:
        `nginx upstream group ${outage.group}: max_fails=${digits(count)}${fails?.implied === false ? '' : ' (default)'}, fail_timeout=${digits(seconds)}s${(usable?.down ?? 0) > 0 ? `, with a permanent "down" entry beside the only live server` : ''}`.replace(
          'nginx',
          penalty?.program ?? 'nginx',
        ),
      sentence: `One failure took the only usable server of ${outage.group} out for ${digits(seconds)} s; the server itself was fine, the proxy answered ${outage.without} requests without asking anybody.`,
      arithmetic: [
        `${outage.realBefore} real failure${outage.realBefore === 1 ? '' : 's'}, then ${outage.without} answers without a server`,
        `from the first failure to the last of them ${digits(outage.seconds)} s; fail_timeout is ${digits(seconds)} s${penalty === undefined || penalty.implied ? ' by default' : ''}`,
      ],
    };
  },
};

interface Outage {
  readonly group: string;
  readonly without: number;
  readonly real: number;
  readonly realBefore: number;
  readonly episodes: number;
  /** The longest episode, from the first real failure to the last answer without a server. */
  readonly seconds: number;
  /** Mean distance between requests then, and how precise the instants are. */
  readonly gapSeconds: number;
  readonly stepSeconds: number;
  readonly around: { readonly text: string; readonly holds: boolean } | undefined;
  readonly origins: { readonly file: string; readonly line?: number }[];
}

interface Moment {
  readonly atMs: number;
  readonly kind: 'real' | 'without' | 'fine';
}

/** From the error log where there is one, else from the access log. */
function outageIn(view: View): Outage | undefined {
  const messages = view.messages('no-live-upstreams');
  const failures = view.dossier.messages.filter(({ code }) => /^upstream-(?!invalid)/.test(code));
  const logged = momentsIn(view);
  const told: Moment[] = [
    ...messages.flatMap(({ atMs }): Moment[] => (atMs === undefined ? [] : [{ atMs, kind: 'without' }])),
    ...failures.flatMap(({ atMs }): Moment[] => (atMs === undefined ? [] : [{ atMs, kind: 'real' }])),
  ];
  const moments = (told.some(({ kind }) => kind === 'without') ? told : logged).toSorted(
    (one, other) => one.atMs - other.atMs || (one.kind === 'real' ? -1 : 1),
  );
  const without = moments.filter(({ kind }) => kind === 'without');
  if (without.length < 3) return undefined;
  const episodes = episodesOf(without.map(({ atMs }) => atMs));
  const [longest] = episodes.toSorted((one, other) => other.to - other.from - (one.to - one.from));
  if (longest === undefined) return undefined;
  const real = moments.filter(({ kind }) => kind === 'real');
  const before = real.filter(({ atMs }) => atMs <= longest.from && atMs >= longest.from - 15_000);
  const began = before.at(-1)?.atMs ?? longest.from;
  const group = messages[0]?.subject ?? view.tables[0]?.services[0] ?? 'the upstream';
  return {
    group: group.replace(/^https?:\/\//, '').replace(/\/.*/, ''),
    without: without.length,
    real: real.length,
    realBefore: before.length,
    episodes: episodes.length,
    seconds: (longest.to - began) / 1000,
    gapSeconds: longest.count > 1 ? (longest.to - longest.from) / 1000 / (longest.count - 1) : 1,
    stepSeconds: told.length > 0 ? 1 : (view.tables[0]?.stepMs ?? 1000) / 1000,
    around: aroundOf(logged, began, longest.to),
    origins:
      messages.length > 0
        ? messages.slice(0, 2).map(({ origin }) => origin)
        : view.tables.slice(0, 1).map(({ origin }) => origin),
  };
}

/** Failures of an access log, and of its successes the first and the last before and after each: a log may have millions. */
function momentsIn(view: View): Moment[] {
  return view.tables.flatMap((table) => {
    const moments: Moment[] = [];
    let fine: Moment | undefined;
    for (let row = 0; row < table.count; row++) {
      const status = table.status[row] ?? 0;
      const atMs = table.startMs[row] ?? Number.NaN;
      if (Number.isNaN(atMs)) continue;
      const asked = (table.replica[row] ?? -1) >= 0;
      if (status < 500) {
        if (!asked || status < 200) continue;
        const last = moments.at(-1);
        if (last === undefined || last.kind !== 'fine') moments.push({ atMs, kind: 'fine' });
        fine = { atMs, kind: 'fine' };
        continue;
      }
      if (fine !== undefined) moments.push(fine);
      fine = undefined;
      if (asked) moments.push({ atMs, kind: 'real' });
      else if (isRefusal(table, row)) moments.push({ atMs, kind: 'without' });
    }
    return fine === undefined ? moments : [...moments, fine];
  });
}

/** Refused without asking anybody: in a log that names servers none is named, and the answer took no time. */
function isRefusal(table: RequestTable, row: number): boolean {
  const status = table.status[row] ?? 0;
  const taken = table.seconds[row] ?? Number.NaN;
  return (status === 502 || status === 503) && table.replicas.length > 0 && !(taken >= 1);
}

/** Stretches without a pause of 15 s. */
function episodesOf(instants: readonly number[]): { from: number; to: number; count: number }[] {
  const episodes: { from: number; to: number; count: number }[] = [];
  for (const at of instants) {
    const last = episodes.at(-1);
    if (last === undefined || at - last.to > 15_000) episodes.push({ from: at, to: at, count: 1 });
    else {
      last.to = at;
      last.count += 1;
    }
  }
  return episodes;
}

function aroundOf(moments: readonly Moment[], from: number, to: number): { text: string; holds: boolean } | undefined {
  const fine = moments.filter(({ kind }) => kind === 'fine');
  if (fine.length === 0) return undefined;
  const before = fine.some(({ atMs }) => atMs <= from);
  const after = fine.some(({ atMs }) => atMs >= to);
  return {
    text: `${before ? 'answered' : 'no answer'} before, ${after ? 'answered' : 'no answer'} after`,
    holds: before && after,
  };
}

function usableIn(
  view: View,
  group: string,
): { usable: number; down: number; text: string; origins: { file: string; line?: number }[] } | undefined {
  const own = ({ scope }: { scope: string }): boolean => scope.includes(group);
  const endpoints = view.setting('upstream.endpoints', own);
  const down = view.setting('upstream.down-servers', own);
  if (typeof endpoints?.value !== 'number') return undefined;
  const out =
    typeof down?.value === 'number' ? down.value : down === undefined ? 0 : String(down.value).split(',').length;
  const usable = endpoints.value - out;
  return {
    usable,
    down: out,
    text: listed([`${usable} usable`, ...(out > 0 ? [`${out} marked down`] : [])]),
    origins: [endpoints.origin, ...(down === undefined ? [] : [down.origin])],
  };
}
