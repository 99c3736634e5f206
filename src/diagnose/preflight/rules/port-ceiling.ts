// New connections a second against source ports.

import type { SettingFact } from '../../../record.ts';
import { say } from '../../wording.ts';
import { portRange, timeWaitSeconds } from '../../dossier/view-kernel.ts';
import { ownerOf } from '../../dossier/view-words.ts';
import type { View } from '../../dossier/view.ts';
import type { Finding, Plan, Rule } from '../rule.ts';

export const portCeiling: Rule = {
  name: 'port-ceiling',
  holds: 'New connections a second stay below what the source ports allow.',
  because:
    'Every connection from one address to one server has a source port of its own and keeps it for 60 s after it was closed: ports ÷ 60 s is ' +
    'the most new connections a second. Without keep-alive that is the most requests a second.',
  check(plan) {
    const findings = opening(plan.view).map((setting) => ceilingAt(plan, setting));
    const missing = findings.length > 0 && plan.ratePerSecond === undefined ? 'requests a second (--rate)' : undefined;
    return { findings, ...(missing === undefined ? {} : { missing }) };
  },
};

/** Settings by which a new connection is made for each request. */
function opening(view: View): SettingFact[] {
  const never = view.settings('upstream.reuse').filter(({ value }) => value === 'never');
  const groups = view
    .settings('upstream.endpoints')
    .filter(
      ({ program, scope, origin }) =>
        program === 'nginx' &&
        !view
          .settings('upstream.keepalive-connections')
          .some((one) => one.scope === scope && one.origin.file === origin.file && Number(one.value) > 0),
    );
  const generators = view.settings('load.reuses-connections').filter(({ value }) => value === false);
  return [...never, ...groups, ...generators];
}

function ceilingAt({ view, ratePerSecond }: Plan, setting: SettingFact): Finding {
  const range = portRange(view);
  const same = ({ scope, origin }: SettingFact): boolean =>
    scope === setting.scope && origin.file === setting.origin.file;
  const targets = Math.max(1, view.number('upstream.endpoints', same) ?? 1);
  const ceiling = (range.ports * targets) / timeWaitSeconds;
  const over = ratePerSecond !== undefined && ratePerSecond > ceiling;
  const rate = ratePerSecond === undefined ? '' : `; ${say(ratePerSecond, 'requests/s')} are meant`;
  return {
    rule: 'port-ceiling',
    severity: over ? 'error' : 'note',
    where: setting.origin,
    also: [],
    because: `${ownerOf(setting)} opens a connection for each request: ${range.ports} ports × ${targets} ${targets === 1 ? 'address' : 'addresses'} ÷ ${timeWaitSeconds} s = ${say(ceiling, 'requests/s')} at the most${rate}`,
    instead:
      'connections that are kept (in nginx: keepalive in the upstream, and proxy_http_version 1.1 with an empty Connection header)',
  };
}
