// Tries against the time of the whole.

import { sayCountSetting, sayDurationSetting, sayTime } from '../../dossier/view-words.ts';
import type { Finding, Rule } from '../rule.ts';
import { type Tier, tiersOf, worstOf } from '../tiers.ts';

export const triesFitDeadline: Rule = {
  name: 'tries-fit-deadline',
  holds: 'All tries that are configured fit into the time of the whole.',
  because:
    'Where one try may take as long as everything, the retry that was configured never begins. It works in every test in which the ' +
    'server refuses at once, and never when it is slow.',
  check({ view }) {
    const files = new Set(view.dossier.settings.map(({ origin }) => origin.file));
    return {
      findings: [...files].flatMap((file) =>
        tiersOf(view, file).flatMap((tier) => [...tooMany(tier), ...tooLate(tier)]),
      ),
    };
  },
};

function tooMany(tier: Tier): Finding[] {
  const { whole, oneTry, retries, retriesSetting, backOffMax } = tier;
  const window = Number(whole?.value ?? 0);
  if (whole === undefined || retriesSetting === undefined || retries < 1 || !(window > 0) || !Number.isFinite(window))
    return [];
  // Without a time for one try it may take the whole.
  const each = tier.setting === whole ? window : oneTry;
  const needed = worstOf(each, retries, backOffMax);
  if (needed <= window) return [];
  const fits = Math.max(1, Math.floor((window + backOffMax) / (each + backOffMax)));
  return [
    {
      rule: 'tries-fit-deadline',
      severity: fits < 2 ? 'error' : 'warning',
      where: whole.origin,
      also: [retriesSetting.origin, tier.setting.origin],
      because:
        `${retries + 1} tries of ${sayTime(each)} need ${sayTime(needed)}, ${sayDurationSetting(whole)} leaves room for ` +
        `${fits} (${sayCountSetting(retriesSetting)})`,
      instead: `at most ${sayTime(Number((window / (retries + 1) - (backOffMax * retries) / (retries + 1)).toPrecision(3)))} for one try, or ${sayTime(needed)} for all`,
    },
  ];
}

/** nginx begins no further try once its window is over. */
function tooLate({ window, oneTry, retries, retriesSetting, setting }: Tier): Finding[] {
  if (window === undefined || retriesSetting === undefined || retries < 1) return [];
  const begun = Math.floor(Number(window.value) / oneTry);
  if (begun >= retries) return [];
  return [
    {
      rule: 'tries-fit-deadline',
      severity: begun < 1 ? 'error' : 'warning',
      where: window.origin,
      also: [setting.origin, retriesSetting.origin],
      because:
        `tries begin within ${sayTime(Number(window.value))} (${sayDurationSetting(window)}), and one may last ${sayTime(oneTry)}: ` +
        `${begun === 0 ? 'no' : begun} further ${begun === 1 ? 'try' : 'tries'} of ${retries}`,
      instead: `at most ${sayTime(Number((Number(window.value) / retries).toPrecision(3)))} for one try, or a window of ${sayTime(oneTry * retries)}`,
    },
  ];
}
