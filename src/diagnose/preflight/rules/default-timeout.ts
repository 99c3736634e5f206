// A default that binds below what somebody wrote beside it.

import { nativeName, ownerOf, sayDurationSetting, sayTime } from '../../dossier/view-words.ts';
import type { Finding, Rule } from '../rule.ts';

export const defaultTimeout: Rule = {
  name: 'default-timeout',
  holds: 'A timeout that binds was chosen by somebody.',
  because:
    'A proxy that is told nothing uses a default: 15 s for a route of Envoy, 60 s between two bytes in nginx. It cuts off whatever takes ' +
    'longer, whatever longer timeouts stand beside it.',
  check({ view }) {
    const implied = view
      .settings('route.timeout', 'upstream.read-timeout')
      .filter((one) => one.implied && typeof one.value === 'number' && Number.isFinite(one.value) && one.value > 0);
    const beside = view
      .settings('route.per-try-timeout', 'downstream.request-timeout', 'workers.service-time')
      .filter((one) => !one.implied && typeof one.value === 'number' && Number.isFinite(one.value));
    return {
      findings: implied.flatMap((setting): Finding[] => {
        const longer = beside.find(
          (one) =>
            Number(one.value) > Number(setting.value) &&
            (one.key !== 'route.per-try-timeout' ||
              (one.scope === setting.scope && one.origin.file === setting.origin.file)),
        );
        if (longer === undefined) return [];
        return [
          {
            rule: 'default-timeout',
            severity: 'error',
            where: longer.origin,
            also: [setting.origin],
            because: `${sayDurationSetting(longer)} is longer than the ${sayTime(Number(setting.value))} that bind because ${ownerOf(setting)} says nothing of ${nativeName(setting)}`,
            instead: `${nativeName(setting)} above ${sayTime(Number(longer.value))}, or that below ${sayTime(Number(setting.value))}`,
          },
        ];
      }),
    };
  },
};
