// Calls that may hang for ever.

import { nativeName, ownerOf } from '../../dossier/view-words.ts';
import type { Rule } from '../rule.ts';

export const noTimeout: Rule = {
  name: 'no-timeout',
  holds: 'Whatever waits for somebody else has an end.',
  because:
    'A call without a timeout holds its worker or its connection for ever when the other side hangs; one such call empties a pool.',
  check({ view }) {
    const endless = view
      .settings('dependency.timeout', 'upstream.read-timeout', 'upstream.connect-timeout', 'pool.acquire-timeout')
      .filter(({ value }) => value === Number.POSITIVE_INFINITY)
      // A proxy of connections cannot know how long one may be silent.
      .filter(
        ({ scope }) => !view.settings('balance.layer').some((layer) => layer.scope === scope && layer.value === 'tcp'),
      );
    return {
      findings: endless.map((setting) => ({
        rule: 'no-timeout',
        severity: setting.implied ? 'warning' : 'error',
        where: setting.origin,
        also: [],
        because: `${ownerOf(setting)} has no ${nativeName(setting)}${setting.implied ? ': nothing is written, and the default is none' : ''}; one hang holds a worker for ever`,
        instead: 'a timeout below that of whoever waits for the answer',
      })),
    };
  },
};
