// A backlog longer than the kernel’s bound.

import { sayCountSetting } from '../../dossier/view-words.ts';
import type { Finding, Rule } from '../rule.ts';

export const backlogClamped: Rule = {
  name: 'backlog-clamped',
  holds: 'A listen backlog is as long as it says.',
  because:
    'The kernel cuts every backlog to net.core.somaxconn without a word; connections beyond it are dropped and come again after a second.',
  check({ view }) {
    const most = view.setting('kernel.somaxconn');
    if (most === undefined) return { findings: [] };
    return {
      findings: view
        .settings('listen.backlog')
        .filter(({ value, implied }) => Number(value) > Number(most.value) && !implied)
        .map((setting): Finding => ({
          rule: 'backlog-clamped',
          severity: 'warning',
          where: setting.origin,
          also: [most.origin],
          because: `min(${String(setting.value)}, ${String(most.value)}) = ${String(most.value)} (${sayCountSetting(setting)}; ${sayCountSetting(most)})`,
          instead: `net.core.somaxconn of at least ${String(setting.value)}`,
        })),
    };
  },
};
