// Connections against what a program and its kernel allow.

import type { SettingFact } from '../../../record.ts';
import { say } from '../../wording.ts';
import { ownerOf, sayCountSetting, sayTime } from '../../dossier/view-words.ts';
import type { Finding, Plan, Rule } from '../rule.ts';

export const descriptorCeiling: Rule = {
  name: 'descriptor-ceiling',
  holds:
    'Connections that a program may have open suffice for what it may have in flight, and its descriptors for those.',
  because:
    'A proxied request takes two connections, one to either side, and each takes a descriptor. At the ceiling further clients are ' +
    'refused or left waiting, however idle everything is.',
  check(plan) {
    return { findings: [...connections(plan), ...descriptors(plan)] };
  },
};

/** nginx: worker_connections counts both sides. */
function connections({ view, ratePerSecond }: Plan): Finding[] {
  return view.settings('workers.connections').flatMap((setting): Finding[] => {
    const file = ({ origin }: SettingFact): boolean => origin.file === setting.origin.file;
    const processes = view.number('workers.processes', file) ?? 1;
    const most = Math.floor((Number(setting.value) * processes) / 2);
    const longest = Math.max(
      0,
      ...view
        .settings('upstream.read-timeout')
        .filter(file)
        .map(({ value }) => Number(value)),
    );
    if (ratePerSecond === undefined || longest === 0 || !Number.isFinite(longest)) return [];
    const needed = ratePerSecond * longest;
    if (needed <= most) return [];
    return [
      {
        rule: 'descriptor-ceiling',
        severity: 'warning',
        where: setting.origin,
        also: [],
        because: `${Number(setting.value)} × ${processes} ÷ 2 = ${most} requests at once (${sayCountSetting(setting)}); ${say(ratePerSecond, 'requests/s')} × ${sayTime(longest)} = ${Math.ceil(needed)} while upstreams hang`,
        instead: `worker_connections of at least ${Math.ceil((2 * needed) / processes)}, or shorter timeouts`,
      },
    ];
  });
}

function descriptors({ view }: Plan): Finding[] {
  const limit = view.setting('kernel.files-per-process-max');
  if (limit === undefined) return [];
  const wanted = view
    .settings('downstream.max-connections', 'workers.connections')
    .filter(({ value, implied }) => typeof value === 'number' && !implied);
  return wanted.flatMap((setting): Finding[] => {
    const each = setting.key === 'workers.connections' ? 1 : 2;
    const needed = Number(setting.value) * each;
    if (needed <= Number(limit.value)) return [];
    return [
      {
        rule: 'descriptor-ceiling',
        severity: 'error',
        where: setting.origin,
        also: [limit.origin],
        because: `${ownerOf(setting)} may have ${Number(setting.value)}${each === 2 ? ' × 2' : ''} = ${needed} connections, and ${String(limit.value)} files may be open`,
        instead: `a limit of at least ${needed} open files (ulimit -n, LimitNOFILE)`,
      },
    ];
  });
}
