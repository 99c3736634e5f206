// Retries of several tiers multiply.

import { amplification } from '../../../policy.ts';
import { sayCountSetting } from '../../dossier/view-words.ts';
import { nothing, type Rule } from '../rule.ts';
import { tiersOf } from '../tiers.ts';

export const retryProduct: Rule = {
  name: 'retry-product',
  holds: 'Retries of all tiers together stay within what is spare.',
  because:
    'When everything fails each tier tries again for each try of the tier in front: attempts multiply. What was an error for some becomes ' +
    'a load that keeps the errors alive.',
  check({ view, order, spare }) {
    const files = order.length > 0 ? order : [...new Set(view.dossier.settings.map(({ origin }) => origin.file))];
    const levels = files.flatMap((file) => {
      const [most] = tiersOf(view, file).toSorted((one, other) => other.retries - one.retries);
      return most === undefined || most.retries === 0 || most.retriesSetting === undefined
        ? []
        : [{ retries: most.retries, setting: most.retriesSetting }];
    });
    const last = levels.at(-1);
    const product = amplification(levels.map(({ retries }) => retries));
    // One level of retries alone is what budgets are for.
    if (last === undefined || levels.length < 2 || product <= spare) return nothing;
    const budget = view.setting('retry.budget');
    return {
      findings: [
        {
          rule: 'retry-product',
          severity: budget === undefined ? 'error' : 'warning',
          where: last.setting.origin,
          also: levels.slice(0, -1).map(({ setting }) => setting.origin),
          because:
            `${levels.map(({ retries }) => `(${retries} + 1)`).join(' × ')} = ${product} attempts for one request when everything ` +
            `fails, and ${spare} times the load can be carried (${levels.map(({ setting }) => sayCountSetting(setting)).join('; ')})`,
          instead: 'retries on one tier only, with a budget there of 10–20 % of the requests',
        },
      ],
    };
  },
};
