// A least-connections balancer that forgets what is open, whenever its list changes.

import { digits, listed } from '../../wording.ts';
import { spreadOf } from '../spread.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';

export const lbStateReset: DossierTheory = {
  slug: 'lb-state-reset',
  title: 'State reset: the balancer forgets what is in flight when its list changes',
  mechanism:
    'Least-request knows the load of an endpoint from what it has itself sent and not yet got back. Where the counts are made ' +
    'anew with every change of the list, all endpoints look empty afterwards, and the next requests go round as if nothing ' +
    'were open. With long sessions a new endpoint never catches up.',
  refutedBy: 'Choices after the change that go to the endpoint with the fewest open.',
  provedBy: 'A choice after the change that the open sessions forbid, and that counts from zero foretell.',
  lookAlikes: ['a new replica that is not ready', 'weights', 'sticky-session', 'rr-synchronised-start'],
  fix: 'Keep the counts across versions of the list; or drain and re-balance sessions when the fleet changes.',
  decidedBy: 'open sessions by endpoint at each choice, and when the list changed',
  explains: ['sticky-session', 'connection-pinning', 'rr-next-host-dogpile'],

  examine(view) {
    const policy = view.setting('balance.policy', ({ value }) => value === 'least-request');
    const kept = view.setting('balance.state-kept');
    const history = historyOf(view);
    const growth = growthOf(view);
    const changed = view.events(({ event }) => /^(?:upstream-change|backend-sync|scaled)$/.test(event)).length > 0;
    if (policy === undefined || (history === undefined && growth === undefined && kept === undefined && !changed))
      return undefined;
    return {
      claims: [
        claim('The policy counts what is open.', {
          bearing: 'necessary',
          predicted: 'least connections or least requests',
          refutes: 'another policy',
          seen: { text: `${policy.scope}: ${policy.value}`, holds: true, origins: [policy.origin] },
        }),
        claim('The endpoints that were passed over were fit.', {
          bearing: 'necessary',
          predicted: 'healthy',
          refutes: 'an endpoint that was out',
          seen: fitSeen(view),
          missing: 'the health of the endpoints',
        }),
        claim('After the change a session went where more were open.', {
          bearing: 'sufficient',
          predicted:
            history === undefined
              ? 'a choice that is not the emptiest'
              : `least connections would take ${history.should}`,
          refutes: 'choices of the emptiest',
          seen:
            history === undefined
              ? undefined
              : {
                  text: `${listed(history.chosen)}${history.wrong > 0 ? `: ${history.wrong} of ${history.after} against the counts` : ''}`,
                  holds: history.wrong > 0 && history.wrongBefore === 0,
                  origins: history.origins,
                },
          missing: 'the sessions in order, with the endpoint of each, around a change of the list',
        }),
        claim('Counted from zero, the choices after the change are those of the policy.', {
          bearing: 'supporting',
          predicted: 'each the emptiest, if the change had emptied all',
          refutes: 'choices that neither counts explain',
          seen:
            history === undefined || history.wrong === 0
              ? undefined
              : { text: `${history.fromZero} of ${history.after}`, holds: history.fromZero === history.after },
          missing: 'the sessions in order',
        }),
        claim('What came new was dealt evenly, though the endpoints were not equally full.', {
          bearing: 'sufficient',
          predicted:
            growth === undefined ? 'equal growth over unequal counts' : `all of the new ones on ${growth.emptiest}`,
          refutes: 'growth of the emptiest alone',
          seen: growth === undefined ? undefined : { text: growth.text, holds: growth.even },
          missing: 'open sessions by endpoint before and after',
        }),
        claim('Its counts do not survive a change of the list.', {
          bearing: 'supporting',
          predicted: 'rebuilt with every version',
          refutes: 'counts that are kept',
          seen:
            kept === undefined
              ? undefined
              : { text: String(kept.value), holds: kept.value === false, origins: [kept.origin] },
          missing: 'whether the balancer keeps its counts across changes',
        }),
      ],
      culprit: `least_conn picker of ${policy.program === 'file' || policy.program === 'notes' ? policy.scope : `${policy.program} ${policy.scope}`}: its counts are rebuilt on every change of the upstream`,
      sentence:
        'The balancer forgot the sessions that were open when its list changed: everything looked empty, so the next ones went round instead of to the emptiest.',
      arithmetic: history === undefined ? (growth === undefined ? [] : [growth.text]) : history.steps,
    };
  },
};

interface History {
  readonly should: string;
  readonly chosen: readonly string[];
  readonly after: number;
  /** Choices that were not the emptiest, after the change and before it. */
  readonly wrong: number;
  readonly wrongBefore: number;
  readonly fromZero: number;
  readonly steps: readonly string[];
  readonly origins: { readonly file: string; readonly line?: number }[];
}

/** Replays openings and closings over a change of the list. */
function historyOf(view: View): History | undefined {
  const all = view.events(({ event }) =>
    /^(?:open|opened|session-open|connect|assigned|close|closed|session-close|disconnect|upstream-change|backend-sync|scaled)$/.test(
      event,
    ),
  );
  const changeAt = all.findLastIndex(({ event }) => /change|sync|scaled/.test(event));
  if (changeAt <= 0 || changeAt === all.length - 1) return undefined;
  const nodes = nodesOf(view, all[changeAt]?.detail);
  const open = new Map<string, number>();
  const fresh = new Map<string, number>();
  const chosen: string[] = [];
  const steps: string[] = [];
  const origins: History['origins'] = [];
  let wrong = 0;
  let wrongBefore = 0;
  let fromZero = 0;
  let should: string | undefined;
  for (const [index, { event, subject, origin }] of all.entries()) {
    if (subject === undefined || /change|sync|scaled/.test(event)) continue;
    const node = bare(subject);
    if (/clos|disconnect/.test(event)) {
      open.set(node, Math.max(0, (open.get(node) ?? 0) - 1));
      fresh.set(node, (fresh.get(node) ?? 0) - 1);
      continue;
    }
    const known = index > changeAt ? nodes : [...open.keys(), node];
    const least = Math.min(...known.map((one) => open.get(one) ?? 0));
    const isWrong = (open.get(node) ?? 0) > least;
    if (index > changeAt) {
      should ??= known.filter((one) => (open.get(one) ?? 0) === least).join(' or ');
      steps.push(
        `open ${known.map((one) => `${one} ${open.get(one) ?? 0}`).join(', ')}: chosen ${node}${isWrong ? ', not the emptiest' : ''}`,
      );
      chosen.push(node);
      origins.push(origin);
      if (isWrong) wrong += 1;
      if ((fresh.get(node) ?? 0) <= Math.min(...nodes.map((one) => fresh.get(one) ?? 0))) fromZero += 1;
      fresh.set(node, (fresh.get(node) ?? 0) + 1);
    } else if (isWrong && [...open.keys()].length >= nodes.length - 1) wrongBefore += 1;
    open.set(node, (open.get(node) ?? 0) + 1);
  }
  if (chosen.length === 0 || should === undefined) return undefined;
  return { should, chosen, after: chosen.length, wrong, wrongBefore, fromZero, steps, origins: origins.slice(0, 4) };
}

function nodesOf(view: View, detail: string | undefined): string[] {
  const told = /(?:nodes|endpoints|upstreams|targets)=([\w.:,-]+)/.exec(detail ?? '')?.[1]?.split(',') ?? [];
  const configured = String(view.setting('upstream.endpoint-list')?.value ?? '').split(',');
  return (told.length >= 2 ? told : configured).filter((node) => node !== '').map(bare);
}

function bare(node: string): string {
  return node.replace(/:\d+$/, '');
}

function fitSeen(view: View): { text: string; holds: boolean } | undefined {
  const out = view.fleets
    .flatMap(({ members }) => members.filter(({ healthy }) => healthy === false))
    .map(({ id }) => id);
  const known = view.fleets.some(({ members }) => members.some(({ healthy }) => healthy !== undefined));
  return known
    ? { text: out.length === 0 ? 'all healthy' : `out: ${listed(out)}`, holds: out.length === 0 }
    : undefined;
}

interface Growth {
  readonly emptiest: string;
  readonly even: boolean;
  readonly text: string;
}

/** Open sessions in two readings: how much each grew against how full it was. */
function growthOf(view: View): Growth | undefined {
  if (view.readings < 2) return undefined;
  for (const fleet of view.fleetsAt(0)) {
    const before = spreadOf(fleet, 'connections');
    if (before === undefined) continue;
    for (const later of view.fleetsAt(view.readings - 1)) {
      const after = spreadOf(later, 'connections');
      if (after === undefined || later.by !== fleet.by || after.members.length < before.members.length) continue;
      const grown = after.members.map((member) => ({
        id: member.id,
        before: before.members.find(({ id }) => id === member.id)?.connections ?? 0,
        by: (member.connections ?? 0) - (before.members.find(({ id }) => id === member.id)?.connections ?? 0),
      }));
      const most = Math.max(...grown.map((one) => one.by));
      const fewest = Math.min(...grown.map((one) => one.before));
      const emptiest = grown.find((one) => one.before === fewest);
      const unequal = Math.max(...grown.map((one) => one.before)) >= 2 * Math.max(1, fewest) + most;
      if (emptiest === undefined || most <= 0 || !unequal) continue;
      return {
        emptiest: emptiest.id,
        even: grown.every((one) => one.by >= 0.5 * most),
        text: grown.map((one) => `${one.id} ${digits(one.before)} + ${digits(one.by)}`).join(', '),
      };
    }
  }
  return undefined;
}
