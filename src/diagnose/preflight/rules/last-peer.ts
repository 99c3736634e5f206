// Passive eviction where only one server is left to evict.

import type { SettingFact } from '../../../record.ts';
import { ownerOf, sayTime } from '../../dossier/view-words.ts';
import type { Finding, Rule } from '../rule.ts';

export const lastPeer: Rule = {
  name: 'last-peer',
  holds: 'The only live server of a group is not taken out for one failure.',
  because:
    'nginx never takes out the server of a group of one. A second server that is listed and marked down makes it a group of two: then one ' +
    'failure of the live one (max_fails=1 by default) leaves nobody for fail_timeout.',
  check({ view }) {
    const groups = view
      .settings('upstream.down-servers')
      .filter(({ program, value }) => program === 'nginx' && Number(value) > 0);
    return {
      findings: groups.flatMap((down): Finding[] => {
        const same = ({ scope, origin }: SettingFact): boolean =>
          scope === down.scope && origin.file === down.origin.file;
        const all = view.number('upstream.endpoints', same);
        const fails = view.setting('upstream.max-fails', same);
        const seconds = view.number('upstream.fail-timeout', same) ?? 10;
        if (all === undefined || all - Number(down.value) !== 1 || fails?.value === 0) return [];
        return [
          {
            rule: 'last-peer',
            severity: 'error',
            where: down.origin,
            also: fails === undefined ? [] : [fails.origin],
            because: `${ownerOf(down)}: ${all} − ${String(down.value)} down = 1 live server, and ${String(fails?.value ?? 1)} failure takes it out for ${sayTime(seconds)}: every request is refused meanwhile`,
            instead: 'max_fails=0 on the live server, or no server that is always down',
          },
        ];
      }),
    };
  },
};
