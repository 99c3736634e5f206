// Replicas that were taken out of rotation, and why: from the balancer's events, its log, its statistics page, or the events of
// an orchestrator. The reason is what tells causes apart: a probe that times out met a full replica, one that is refused met
// a dead one, and a name that does not resolve says nothing about the replica at all.

import type { Origin } from '../../record.ts';
import type { View } from './view.ts';

export interface Removal {
  readonly subject: string;
  readonly kind: 'timeout' | 'refused' | 'error' | 'discovery' | 'draining' | 'unknown';
  readonly reason: string;
  readonly atMs: number | undefined;
  readonly origin: readonly Origin[];
}

export function removals(view: View): Removal[] {
  const told = view
    .events(({ event }) => /^(?:unhealthy|removed-from-balancer|probe-failed|ejected|server-down|down)$/.test(event))
    .map((one): Removal => {
      const reason = one.detail ?? one.event;
      return { subject: one.subject ?? '?', kind: kindOf(reason), reason, atMs: one.atMs, origin: [one.origin] };
    });
  const pages = view.dossier.samples.flatMap((sample): Removal[] => {
    const words = sample.labels['reason'] ?? sample.labels['status'] ?? sample.labels['state'];
    if (sample.value !== 0 || words === undefined || sample.labels['type'] === 'backend') return [];
    if (!/(?:_up|healthy|ready|serving)$/.test(sample.name)) return [];
    const subject =
      sample.labels['server'] ?? sample.labels['target'] ?? sample.labels['endpoint'] ?? sample.labels['pod'] ?? '?';
    return [{ subject, kind: kindOf(words), reason: words, atMs: sample.atMs, origin: [sample.origin] }];
  });
  const known = new Set(told.map(({ subject }) => subject));
  return [...told, ...pages.filter(({ subject }) => !known.has(subject))];
}

/** What kind of failure these words are. */
export function kindOf(words: string): Removal['kind'] {
  if (/resolution|dns|nxdomain|resolve|discovery|maint \(/i.test(words)) return 'discovery';
  if (/drain|terminat|deregist|shutdown|deploy/i.test(words)) return 'draining';
  if (/time.?out|timed out|deadline|L[467]TOUT/i.test(words)) return 'timeout';
  if (/refused|reset|connect|L4CON|unreachable|no route/i.test(words)) return 'refused';
  if (/5\d\d|4\d\d|mismatch|response|status|L7STS|L7RSP|fail(?:ed)? with/i.test(words)) return 'error';
  return 'unknown';
}
