// Whoever says where the replicas are has failed. The replicas have not.

import { digits, listed } from '../../wording.ts';
import { memberships, refusedForLack } from '../membership.ts';
import { removals } from '../removals.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { rowsWhere, type View } from '../view.ts';

export const discoveryOutage: DossierTheory = {
  slug: 'discovery-outage',
  title: 'Discovery outage: the resolver or registry failed, and servers were taken for gone',
  mechanism:
    'A balancer that learns its servers from a resolver or a registry holds the last good answer for a while. When no new one ' +
    'comes it drops the servers, all at once, though each of them passes its checks, and refuses every request.',
  refutedBy: 'Servers that failed their own checks, or that went out one by one.',
  provedBy:
    'All servers out for the sake of a name, none for a failed check, the hold time after the first failure of the resolver.',
  lookAlikes: ['an outage of the backends', 'health-check-on-shared-workers', 'drain-race', 'all-ejected-no-panic'],
  fix:
    'Hold old answers longer when the resolver does not answer, ask several resolvers, begin with the last known addresses; ' +
    'watch resolution apart from health.',
  decidedBy: 'why each server was taken out, and what the resolver or registry answered then',
  explains: ['all-ejected-no-panic', 'dns-quantised-delay', 'passive-eviction-last-peer', 'drain-race'],

  examine(view) {
    const failures = failuresIn(view);
    const out = removals(view);
    const lost = out.filter(({ kind }) => kind === 'discovery');
    const failed = out.filter(({ kind }) => kind === 'timeout' || kind === 'refused' || kind === 'error');
    const emptied = memberships(view).find(
      ({ total, updateFailures }) => total === 0 || ((updateFailures ?? 0) > 0 && total !== undefined && total < 1),
    );
    if (failures.length === 0 && lost.length === 0 && emptied === undefined) return undefined;
    const refused = refusedWhile(
      view,
      failures.flatMap(({ atMs }) => atMs ?? []),
    );
    const hold = view.setting('dns.hold');
    const heldFor = typeof hold?.value === 'number' ? hold.value : undefined;
    const first = failures.flatMap(({ atMs }) => atMs ?? [])[0];
    const gone = lost.flatMap(({ atMs }) => atMs ?? [])[0];
    const after = first === undefined || gone === undefined || gone < first ? undefined : (gone - first) / 1000;
    const probed = probesIn(view);
    const together = togetherIn(lost.flatMap(({ atMs }) => atMs ?? []));
    const who = failures[0]?.subject;
    return {
      claims: [
        claim('No server failed its own check.', {
          bearing: 'necessary',
          predicted: 'no check that failed',
          refutes: 'servers out for failed checks',
          seen:
            lost.length + failed.length === 0 && emptied === undefined
              ? undefined
              : {
                  text: `${lost.length} out by name, ${failed.length} by check`,
                  holds: failed.length === 0,
                  origins: lost.flatMap(({ origin }) => origin).slice(0, 4),
                },
          missing: 'why the servers went out',
        }),
        claim('Servers are out because their name did not resolve.', {
          bearing: 'sufficient',
          predicted: 'the reason names the resolution',
          refutes: 'another reason',
          seen:
            lost.length === 0
              ? undefined
              : { text: listed([...new Set(lost.map(({ reason }) => reason))].slice(0, 3)), holds: true },
          missing: 'the reason for which the servers went out',
        }),
        claim('The list of hosts is empty while updates fail.', {
          bearing: 'sufficient',
          predicted: 'no members, failed updates or a failing resolver',
          refutes: 'members in the list',
          seen:
            emptied === undefined
              ? undefined
              : {
                  text: `${digits(emptied.total ?? 0)} members, ${digits(emptied.updateFailures ?? 0)} failed updates`,
                  holds: emptied.total === 0 && ((emptied.updateFailures ?? 0) > 0 || failures.length > 0),
                  origins: emptied.origins,
                },
          missing: 'members of the cluster and failed updates',
        }),
        claim('The resolver or registry failed, and requests were refused for want of a server.', {
          bearing: lost.length > 0 || emptied !== undefined ? 'supporting' : 'sufficient',
          predicted: 'failures of both kinds',
          refutes: 'a resolver that answers',
          seen:
            failures.length === 0
              ? undefined
              : {
                  text: `${failures.length} failures of ${who ?? 'the resolver'}, ${refused.count} requests refused`,
                  holds: refused.count > 0 || resolutionFlags(view) > 0,
                  origins: failures.map(({ origin }) => origin).slice(0, 3),
                },
          missing: 'what the resolver or registry answered',
        }),
        claim('They went out together.', {
          bearing: 'supporting',
          predicted: 'within 5 s of each other',
          refutes: 'one by one',
          seen:
            together === undefined
              ? undefined
              : { text: `${lost.length} within ${digits(together)} s`, holds: together <= 5 },
          missing: 'when each server went out',
        }),
        claim('They went out as long after the first failure as an answer is held.', {
          bearing: 'supporting',
          predicted: heldFor === undefined ? 'the hold time' : `${digits(heldFor)} s, within 10 %`,
          refutes: 'another time',
          seen:
            after === undefined || heldFor === undefined
              ? undefined
              : { text: `${digits(after)} s`, holds: Math.abs(after - heldFor) <= Math.max(2, heldFor * 0.1) },
          missing: 'the first failure of the resolver, and how long answers are held',
        }),
        claim('Asked directly, the servers answer.', {
          bearing: 'supporting',
          predicted: 'success from each',
          refutes: 'servers that do not answer',
          seen: probed,
          missing: 'a request to each server past the balancer',
        }),
      ],
      culprit: `${who === undefined ? 'the resolver or registry' : `DNS resolver ${who.replace(/:53$/, '')}`}: resolution failed${heldFor === undefined ? '' : ` and the last answer is held for ${digits(heldFor)} s`}, not the servers`,
      sentence: `The servers are fine; ${who === undefined ? 'the resolver or registry' : `the resolver ${who}`} stopped answering, and the balancer took ${lost.length > 0 ? `all ${lost.length} servers` : 'them'} for gone.`,
      arithmetic: [
        ...(after === undefined || heldFor === undefined
          ? []
          : [
              `first failure of the resolver, ${digits(after)} s later the servers go out; an answer is held for ${digits(heldFor)} s`,
            ]),
        ...(refused.count > 0 ? [`${refused.count} requests refused for want of a server`] : []),
        ...(probed === undefined ? [] : [`asked directly: ${probed.text}`]),
      ],
    };
  },
};

/** Requests refused for want of a server; where a log does not say why, those that failed without one while the resolver did. */
function refusedWhile(
  view: View,
  failures: readonly number[],
): { count: number; origins: { file: string; line?: number }[] } {
  const said = refusedForLack(view);
  if (said.count > 0 || failures.length === 0) return { count: said.count, origins: [...said.origins] };
  const from = Math.min(...failures) - 5000;
  const to = Math.max(...failures) + 60_000;
  let count = 0;
  const origins: { file: string; line?: number }[] = [];
  for (const table of view.tables) {
    const rows = rowsWhere(table, (row) => {
      const at = table.startMs[row] ?? Number.NaN;
      return (table.status[row] ?? 0) >= 500 && (table.replica[row] ?? -1) < 0 && at >= from && at <= to;
    });
    count += rows.length;
    if (rows.length > 0) origins.push(table.origin);
  }
  return { count, origins };
}

function failuresIn(view: View) {
  return view.dossier.messages
    .filter(
      ({ code, text }) =>
        /^dns-|^registry-|^discovery-|^eds-/.test(code) ||
        (/resolv|lookup|nameserver|registry|consul|etcd|eureka|nacos|xds|discovery/i.test(text) &&
          /time.?out|unreachable|refused|no leader|servfail|i\/o timeout|unavailable|stream closed|fail/i.test(text)),
    )
    .toSorted((one, other) => (one.atMs ?? 0) - (other.atMs ?? 0));
}

function resolutionFlags(view: View): number {
  return view.tables.reduce(
    (sum, table) =>
      sum + table.flag.reduce((own, index) => own + (/(?:^|,)DF(?:,|$)/.test(table.flags[index] ?? '') ? 1 : 0), 0),
    0,
  );
}

/** Requests that went past the balancer: a log of a few lines, one for each server. */
function probesIn(view: View): { text: string; holds: boolean } | undefined {
  for (const table of view.tables) {
    if (table.replicas.length < 2 || table.count > 5 * table.replicas.length || table.count < table.replicas.length)
      continue;
    let fine = 0;
    for (const status of table.status) if (status >= 200 && status < 400) fine += 1;
    return { text: `${fine} of ${table.count} answered`, holds: fine === table.count };
  }
  return undefined;
}

function togetherIn(instants: readonly number[]): number | undefined {
  return instants.length < 2 ? undefined : (Math.max(...instants) - Math.min(...instants)) / 1000;
}
