// Retries are configured, and there is never time for one.

import type { SettingFact, SettingKey } from '../../../record.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { medianOf, rowsWhere, type View } from '../view.ts';
import { type Cut, cutsOf, stagesOf } from '../view-cuts.ts';
import { hasSymptoms } from '../view-symptoms.ts';
import { nativeName, ownerOf, sayDurationSetting, sayTime } from '../view-words.ts';

export const retryWindowTooShort: DossierTheory = {
  slug: 'retry-window-too-short',
  title: 'Retry window too short: the first try spends the time of all',
  mechanism:
    'A retry begins when a try has failed. Where a try may last as long as the whole request, or as long as the time in ' +
    'which retries may begin, a slow try uses all of it and the retry that was configured never happens, or has too little ' +
    'left to succeed. It works in every test in which the server refuses at once.',
  refutedBy: 'Room for two tries in the window, or retries that did happen and succeeded after a slow try.',
  provedBy: 'A window below two tries, and requests that ended where it or the try ends, after no more tries than fit.',
  lookAlikes: ['timeout-inversion', 'default-route-timeout', 'a retry condition that does not match'],
  fix: 'Give one try at most (window − pauses) ÷ (retries + 1), or widen the window; bound the retries with a budget before that.',
  decidedBy: 'tries of each request that failed, and the timeouts of a try and of the whole',
  explains: ['slow-replica'],

  examine(view) {
    const plans = plansOf(view);
    const cuts = cutsOf(view).filter(({ stage }) => stage !== 'passed-on' && stage !== 'queue');
    const found = plans.flatMap((plan) => {
      const cut = cuts.find(({ at }) => at >= plan.endsAt * 0.995 - 0.005 && at <= plan.endsAt * 1.02 + 0.1);
      return cut === undefined ? [] : [{ plan, cut }];
    })[0];
    const plan = found?.plan ?? plans.find(({ window, perTry }) => Number(window.value) < 2 * perTry) ?? plans[0];
    if (plan === undefined) return undefined;
    const { window, one, retries, perTry, endsAt } = plan;
    const cut = found?.cut;
    const room = Number(window.value) / perTry;
    const fitting = Math.max(1, Math.ceil(room - 0.001));
    const asked = Number(retries.value);
    const tries =
      triesOf(view, cut) ??
      // Where one try may last as long as everything, whoever was given up at the end cannot have had a second.
      (cut !== undefined && perTry >= Number(window.value) && !window.implied
        ? { most: 1, text: 'one try lasts as long as the window' }
        : undefined);
    const left = Math.max(0, Number(window.value) - perTry);
    const usual = usualSuccess(cut);
    return {
      basis: cut === undefined ? 'configured' : 'seen',
      claims: [
        claim('Another try was asked for.', {
          bearing: 'necessary',
          predicted: 'at least one retry',
          refutes: 'no retries configured',
          seen: { text: `${ownerOf(retries)}: ${asked}`, holds: asked >= 1, origins: [retries.origin] },
        }),
        claim('Two whole tries do not fit into the window.', {
          bearing: 'necessary',
          predicted: `a window below 2 × ${sayTime(perTry)}`,
          refutes: 'room for two tries',
          seen: {
            text: `${sayDurationSetting(window)}: room for ${room.toFixed(2)} tries`,
            holds: room < 2,
            origins: [window.origin],
          },
        }),
        claim('Requests that were given up had no more tries than fit.', {
          bearing: 'necessary',
          predicted: fitting === 1 ? 'one try each' : `at most ${fitting}, the last with ${sayTime(left)} left`,
          refutes: 'more tries',
          seen: tries === undefined ? undefined : { text: tries.text, holds: tries.most <= fitting },
          missing: 'the number of tries of each request, or the proxy’s count of retries',
        }),
        claim('Requests ended where the time of a try, or of all, was spent.', {
          bearing: 'sufficient',
          predicted: `at ${sayTime(endsAt)}, after ${fitting === 1 ? 'one try' : `at most ${fitting} tries`}`,
          refutes: 'another time',
          seen:
            cut === undefined || tries === undefined
              ? undefined
              : {
                  text: `${cut.rows.length} ended at ${sayTime(cut.at)}; ${tries.text}`,
                  holds: tries.most <= fitting && room < 2,
                  origins: [cut.table.origin],
                },
          missing: 'an access log with durations and tries',
        }),
        claim('What is left after a slow try is not enough for another.', {
          bearing: 'supporting',
          predicted:
            usual === undefined
              ? `more than ${sayTime(left)} for a success`
              : `a success takes more than ${sayTime(left)}`,
          refutes: 'successes that would fit into what is left',
          seen: usual === undefined ? undefined : { text: `usually ${sayTime(usual)}`, holds: usual > left },
          missing: 'how long successes take',
        }),
        claim('By the settings alone a second try can never begin.', {
          bearing: 'sufficient',
          predicted: `a try of at least ${sayTime(Number(window.value))}`,
          refutes: 'a try that ends before the window',
          seen:
            cut !== undefined || (hasSymptoms(view) && !timeoutsOnly(view, tries))
              ? undefined
              : { text: sayTime(perTry), holds: perTry >= Number(window.value) },
          missing: 'nothing but settings, or requests that show it',
        }),
      ],
      culprit:
        `${ownerOf(window)}: ${nativeName(window)} ${sayTime(Number(window.value))}` +
        (one === undefined ? ' without a timeout for one try' : ` below 2 × ${nativeName(one)} ${sayTime(perTry)}`),
      sentence: `${asked === 1 ? 'A retry is' : `${asked} retries are`} configured, but one try may take ${sayTime(perTry)} of the ${sayTime(Number(window.value))} there are: ${left === 0 ? 'the second never comes' : `for a second ${sayTime(left)} are left`}.`,
      arithmetic: [
        `${sayTime(Number(window.value))} ÷ ${sayTime(perTry)} = ${room.toFixed(2)} tries, ${asked + 1} were meant`,
      ],
    };
  },
};

interface Plan {
  readonly window: SettingFact;
  /** Undefined: a try may take the whole window. */
  readonly one: SettingFact | undefined;
  readonly retries: SettingFact;
  /** Seconds that one try may take. */
  readonly perTry: number;
  /** Where a request ends that is slow from the first try on. */
  readonly endsAt: number;
}

/** Where nothing but an error log was left, and all that it tells is of tries that ran out of time, the settings say the rest. */
function timeoutsOnly(view: View, tries: { readonly most: number } | undefined): boolean {
  const { messages } = view.dossier;
  return (
    view.tables.length === 0 &&
    messages.length > 0 &&
    messages.every(({ code }) => code.includes('timeout')) &&
    (tries === undefined || tries.most <= 1)
  );
}

/** Place by place: the retries, what one try may take, and the window that all of them share. */
function plansOf(view: View): Plan[] {
  return view
    .settings('route.retries')
    .filter(({ value }) => Number(value) >= 1)
    .flatMap((retries): Plan[] => {
      const here = (setting: SettingFact): boolean =>
        setting.origin.file === retries.origin.file &&
        setting.program === retries.program &&
        setting.scope === retries.scope;
      const finite = (key: SettingKey, where: (setting: SettingFact) => boolean): SettingFact | undefined =>
        view.setting(
          key,
          (setting) => where(setting) && Number.isFinite(Number(setting.value)) && Number(setting.value) > 0,
        );
      const passing = finite('retry.window', here);
      const whole = finite('route.timeout', here);
      const caller = finite('downstream.request-timeout', (setting) => !setting.implied);
      const perTry = finite('route.per-try-timeout', here);
      const answering = finite('upstream.read-timeout', here);
      const connecting = finite('upstream.connect-timeout', here);
      // HAProxy tries again when it could not connect, unless it was told more.
      const onAnswers = retries.program !== 'haproxy' || /response-timeout|all-retryable/.test(retryOn(view, here));
      const ones = [perTry, onAnswers ? answering : undefined, connecting].filter((setting) => setting !== undefined);
      // The time in which another try may begin does not end a try: nginx waits for the one that runs.
      if (passing !== undefined) {
        return ones.map((one) => ({
          window: passing,
          one,
          retries,
          perTry: Number(one.value),
          endsAt: Number(one.value),
        }));
      }
      const [window] = [whole, caller]
        .filter((setting) => setting !== undefined)
        .toSorted((a, b) => Number(a.value) - Number(b.value));
      if (window === undefined) return [];
      const seconds = Number(window.value);
      if (perTry === undefined && window === whole)
        return [{ window, one: undefined, retries, perTry: seconds, endsAt: seconds }];
      return (perTry === undefined ? ones : [perTry]).map((one) => ({
        window,
        one,
        retries,
        perTry: Number(one.value),
        endsAt: seconds,
      }));
    });
}

function retryOn(view: View, here: (setting: SettingFact) => boolean): string {
  return String(view.setting('route.retry-on', here)?.value ?? '');
}

/** The most tries of a request that was given up, or whether the proxy counted any retry. */
function triesOf(view: View, cut: Cut | undefined): { readonly most: number; readonly text: string } | undefined {
  let most = 0;
  for (const table of cut === undefined ? view.tables : [cut.table]) {
    const stageOf = stagesOf(view, table);
    const rows = cut?.rows ?? rowsWhere(table, (at) => stageOf(at) === 'answer');
    for (const row of rows) most = Math.max(most, table.attempts[row] ?? -1);
  }
  if (most > 0) return { most, text: `at most ${most === 1 ? 'one try' : `${most} tries`} each` };
  const retries = view.total((name) => /upstream_rq_retry$|(^|_)wretr$|retries_total$/.test(name));
  return retries === undefined
    ? undefined
    : { most: retries.value > 0 ? 2 : 1, text: `${retries.value} retries counted` };
}

function usualSuccess(cut: Cut | undefined): number | undefined {
  if (cut === undefined) return undefined;
  const { table } = cut;
  const good = rowsWhere(table, (row) => (table.status[row] ?? -1) >= 200 && (table.status[row] ?? -1) < 400);
  return medianOf(good.map((row) => table.seconds[row] ?? Number.NaN).filter((seconds) => !Number.isNaN(seconds)));
}
