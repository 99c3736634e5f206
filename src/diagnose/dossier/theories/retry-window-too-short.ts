// Retries are configured, and there is never time for one.

import type { SettingFact } from '../../../record.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { rowsWhere, type View } from '../view.ts';
import { cutsOf, stagesOf } from '../view-cuts.ts';
import { nativeName, ownerOf, sayDurationSetting, sayTime } from '../view-words.ts';

export const retryWindowTooShort: DossierTheory = {
  slug: 'retry-window-too-short',
  title: 'Retry window too short: the first try spends the time of all',
  mechanism:
    'A retry begins when a try has failed. Where a try may last as long as the whole request, or as long as the time in ' +
    'which retries may begin, a slow try uses all of it and the retry that was configured never happens. It works in every ' +
    'test in which the server refuses at once.',
  refutedBy: 'Room for two tries in the window, or retries that did happen after a slow try.',
  provedBy: 'A window below two tries, and requests that ended at its end after a single try.',
  lookAlikes: ['timeout-inversion', 'default-route-timeout', 'a retry condition that does not match'],
  fix: 'Give one try at most (window − pauses) ÷ (retries + 1), or widen the window; bound the retries with a budget before that.',
  decidedBy: 'tries of each request that failed, and the timeouts of a try and of the whole',
  explains: [],

  examine(view) {
    const plan = planOf(view);
    if (plan === undefined) return undefined;
    const { window, one, retries, endsAt } = plan;
    const perTry = one === undefined ? Number(window.value) : Number(one.value);
    const room = Number(window.value) / perTry;
    const cut = cutsOf(view).find(
      ({ stage, at }) => (stage === 'answer' || stage === 'client') && Math.abs(at - endsAt) <= 0.02 * endsAt + 0.1,
    );
    const tries = triesOf(view);
    const asked = Number(retries.value);
    return {
      basis: cut === undefined ? 'configured' : 'seen',
      claims: [
        claim('Another try was asked for.', {
          bearing: 'necessary',
          predicted: 'at least one retry',
          refutes: 'no retries configured',
          seen: { text: `${ownerOf(retries)}: ${asked}`, holds: asked >= 1, origins: [retries.origin] },
        }),
        claim('Two tries do not fit into the window.', {
          bearing: 'necessary',
          predicted: `a window below 2 × ${sayTime(perTry)}`,
          refutes: 'room for two tries',
          seen: {
            text: `${sayDurationSetting(window)}: room for ${room.toFixed(2)} tries`,
            holds: room < 2,
            origins: [window.origin],
          },
        }),
        claim('No request that was given up had a second try.', {
          bearing: 'necessary',
          predicted: 'one try each',
          refutes: 'retries after a slow try',
          seen: tries === undefined ? undefined : { text: tries.text, holds: tries.most <= 1 },
          missing: 'the number of tries of each request, or the proxy’s count of retries',
        }),
        claim('Requests ended where the first try ran out of time.', {
          bearing: 'sufficient',
          predicted: `at ${sayTime(endsAt)}, after one try`,
          refutes: 'another time',
          seen:
            cut === undefined || tries === undefined
              ? undefined
              : {
                  text: `${cut.rows.length} ended at ${sayTime(cut.at)}; ${tries.text}`,
                  holds: tries.most <= 1,
                  origins: [cut.table.origin],
                },
          missing: 'an access log with durations and tries',
        }),
        claim('By the settings alone a second try can never begin.', {
          bearing: 'sufficient',
          predicted: `a try of at least ${sayTime(Number(window.value))}`,
          refutes: 'a try that ends before the window',
          seen:
            cut !== undefined || symptoms(view)
              ? undefined
              : { text: sayTime(perTry), holds: perTry >= Number(window.value) },
          missing: 'nothing but settings, or requests that show it',
        }),
      ],
      culprit:
        `${ownerOf(window)}: ${nativeName(window)} ${sayTime(Number(window.value))}` +
        (one === undefined ? ' without a timeout for one try' : ` below 2 × ${nativeName(one)} ${sayTime(perTry)}`),
      sentence: `${asked === 1 ? 'A retry is' : `${asked} retries are`} configured, but one try may take ${sayTime(perTry)} of the ${sayTime(Number(window.value))} there are: the second never comes.`,
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
  readonly endsAt: number;
}

/** Scope by scope: the window, one try, the retries. */
function planOf(view: View): Plan | undefined {
  for (const retries of view.settings('route.retries')) {
    if (!(Number(retries.value) >= 1) || retries.implied) continue;
    const here = (setting: SettingFact): boolean =>
      setting.program === retries.program &&
      setting.scope === retries.scope &&
      setting.origin.file === retries.origin.file;
    const finite = (setting: SettingFact | undefined): SettingFact | undefined =>
      setting !== undefined && Number.isFinite(Number(setting.value)) && Number(setting.value) > 0
        ? setting
        : undefined;
    const whole = finite(view.setting('route.timeout', here));
    const passing = finite(view.setting('retry.window', here));
    const caller = finite(view.setting('downstream.request-timeout', (setting) => here(setting) || !setting.implied));
    const one =
      finite(view.setting('route.per-try-timeout', here)) ?? finite(view.setting('upstream.read-timeout', here));
    // The time in which another try may begin does not end a try: nginx waits for the one that runs.
    if (passing !== undefined && one !== undefined) return { window: passing, one, retries, endsAt: Number(one.value) };
    const window = [whole, caller]
      .filter((setting) => setting !== undefined)
      .toSorted((a, b) => Number(a.value) - Number(b.value))[0];
    if (window === undefined) continue;
    if (one === undefined && window !== whole) continue;
    return {
      window,
      one,
      retries,
      endsAt: Math.min(Number(window.value), Number(one?.value ?? Number.POSITIVE_INFINITY)),
    };
  }
  return undefined;
}

/** The most tries of a request that was given up, or whether the proxy counted any retry. */
function triesOf(view: View): { readonly most: number; readonly text: string } | undefined {
  let most = 0;
  for (const table of view.tables) {
    const stageOf = stagesOf(view, table);
    for (const row of rowsWhere(table, (at) => stageOf(at) === 'answer'))
      most = Math.max(most, table.attempts[row] ?? -1);
  }
  if (most > 0) return { most, text: `at most ${most === 1 ? 'one try' : `${most} tries`} each` };
  const retries = view.total((name) => /upstream_rq_retry$|(^|_)wretr$|retries_total$/.test(name));
  return retries === undefined
    ? undefined
    : { most: retries.value > 0 ? 2 : 1, text: `${retries.value} retries counted` };
}

/** Whether anything but settings is there to be explained. */
function symptoms(view: View): boolean {
  const { requests, samples, results, messages, series } = view.dossier;
  return requests.length + samples.length + results.length + messages.length + series.length > 0;
}
