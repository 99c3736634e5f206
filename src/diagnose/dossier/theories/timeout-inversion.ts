// Somebody's patience ends before somebody else's, or before the work.

import type { SettingFact } from '../../../record.ts';
import { claim, type DossierTheory } from '../theory.ts';
import { rowsWhere, type View } from '../view.ts';
import { bindersOf, type Cut, cutsOf, isError, requestDeadlines } from '../view-cuts.ts';
import { hasSymptoms } from '../view-symptoms.ts';
import { nativeName, ownerOf, sayDurationSetting, sayPart, sayTime } from '../view-words.ts';
import { greatestOf } from '../view-rows.ts';

export const timeoutInversion: DossierTheory = {
  slug: 'timeout-inversion',
  title: 'Timeouts out of order: one hop gives up before the others, or before the work',
  mechanism:
    'Every hop on the way of a request has a timeout of its own. Where one of them is below what its neighbours allow and the ' +
    'work needs, every longer request is cut there, always after the same time, while the work goes on for nobody. Raising ' +
    'the timeout of another hop changes nothing.',
  refutedBy: 'Failures that take differently long, or a request that succeeded and took longer than the cut.',
  provedBy: 'Failures at exactly the time that one hop was told, where a neighbour allows more or the work took more.',
  lookAlikes: ['default-route-timeout', 'retry-window-too-short', 'a slow backend', 'a target that cannot be reached'],
  fix: 'Order the chain: every hop a little more than the one behind it, the innermost more than the work; or make the work quick.',
  decidedBy: 'the timeouts of every hop on the way, and how long the work takes when nobody cuts it',
  explains: ['retry-window-too-short'],

  examine(view) {
    const cuts = cutsOf(view).filter((cut) => cut.stage === 'answer' || cut.stage === 'client');
    const [binding] = cuts.toSorted(
      (one, other) => Number(one.stage === 'client') - Number(other.stage === 'client') || one.at - other.at,
    );
    if (binding === undefined) return configured(view);
    const binders = bindersOf(view, binding);
    const binder = binders.find((setting) => !setting.implied) ?? binders[0];
    const patient = binder === undefined ? undefined : patience(view, binder, binding);
    const work = workBeyond(view, binding);
    const written = binder !== undefined && !binder.implied;
    const longest = binding.longestSuccess;
    const place = binding.place ?? '';
    return {
      claims: [
        claim('Requests that were given up all took the same time.', {
          bearing: 'necessary',
          predicted: binder === undefined ? 'one time, within 1 %' : `${sayTime(Number(binder.value))}, within 2 %`,
          refutes: 'failures that take differently long',
          seen: {
            text: `${sayPart(binding.rows.length, binding.failures)} within ${sayTime(binding.spread)} of ${sayTime(binding.at)}`,
            holds: true,
            origins: [binding.table.origin],
          },
        }),
        claim('Nothing that succeeded there took longer than that.', {
          bearing: 'necessary',
          predicted: `at most ${sayTime(binding.at)}`,
          refutes: 'a longer success',
          seen:
            longest === undefined
              ? undefined
              : { text: `the longest took ${sayTime(longest)}`, holds: longest <= binding.at * 1.05 + 0.1 },
          missing: 'requests through the same hop that succeeded',
        }),
        claim('One hop was told this time, and a neighbour allows more or the work takes more.', {
          bearing: 'sufficient',
          predicted: `a timeout of ${sayTime(binding.at)} that somebody wrote, and something on the way beyond it`,
          refutes: 'no such setting, or nothing that goes on longer',
          seen:
            binder === undefined || (patient === undefined && work === undefined)
              ? undefined
              : {
                  text: [sayDurationSetting(binder), patient && sayDurationSetting(patient), work?.text]
                    .filter((text) => text !== undefined)
                    .join('; '),
                  holds: written,
                  origins: [binder.origin, ...(patient === undefined ? [] : [patient.origin])],
                },
          missing:
            binder === undefined
              ? `the setting that says ${sayTime(binding.at)}`
              : 'the timeouts of the hops around it, or how long the work takes',
        }),
        claim('The hops in front fail after the same time: they pass on what the binding one did.', {
          bearing: 'supporting',
          predicted: `at ${sayTime(binding.at)} or a little later`,
          refutes: 'a hop in front that fails earlier',
          seen: elsewhere(view, binding),
          missing: 'logs of more than one hop',
        }),
      ],
      culprit:
        binder === undefined
          ? undefined
          : `${place === '' ? '' : `${place} `}${binder.program} ${nativeName(binder)} ${sayTime(Number(binder.value))}`,
      sentence:
        `Requests are cut after ${sayTime(binding.at)}${place === '' ? '' : ` at ${place}`}` +
        (patient === undefined ? '' : `, although ${ownerOf(patient)} allows ${sayTime(Number(patient.value))}`) +
        (work === undefined ? '.' : `; the work goes on: ${work.text}.`),
      arithmetic: [
        ...(patient === undefined || binder === undefined
          ? []
          : [
              `${sayTime(Number(binder.value))} (${ownerOf(binder)}) < ${sayTime(Number(patient.value))} (${ownerOf(patient)})`,
            ]),
        ...(work === undefined ? [] : [`${sayTime(binding.at)} (cut) < ${sayTime(work.seconds)} (work)`]),
      ],
      fix:
        binders.filter((one) => !one.implied).length > 1
          ? `Several hops say ${sayTime(binding.at)} (${binders
              .filter((one) => !one.implied)
              .map((one) => one.origin.file)
              .join(', ')}): raise all of them, the innermost first, or make the work quick.`
          : timeoutInversion.fix,
    };
  },
};

/** The deadline of another hop that is later than the cut: the smallest such, as that is the next to bind. */
function patience(view: View, binder: SettingFact, cut: Cut): SettingFact | undefined {
  return view
    .settings(...requestDeadlines)
    .filter((setting) => setting.origin.file !== binder.origin.file || setting.program !== binder.program)
    .filter(({ value }) => typeof value === 'number' && Number.isFinite(value) && value > cut.at * 1.05)
    .toSorted(
      (one, other) => Number(one.implied) - Number(other.implied) || Number(one.value) - Number(other.value),
    )[0];
}

/** Work that went on beyond the cut, in the log of somebody further in or in what a program said of its own statements. */
function workBeyond(view: View, cut: Cut): { readonly text: string; readonly seconds: number } | undefined {
  for (const table of view.tables) {
    if (table === cut.table) continue;
    const rows = rowsWhere(table, (row) => !isError(table, row) && (table.seconds[row] ?? 0) > cut.at * 1.05);
    const seconds = rows.map((row) => table.seconds[row] ?? 0);
    if (rows.length > 0) {
      return {
        text: `${table.origin.file} has ${rows.length} that took up to ${sayTime(greatestOf(seconds))}`,
        seconds: greatestOf(seconds),
      };
    }
  }
  const said = view.dossier.messages.flatMap(({ text }) => saidDuration(text) ?? []);
  const beyond = said.filter((seconds) => seconds > cut.at * 1.05);
  if (beyond.length === 0) return undefined;
  const most = greatestOf(beyond);
  return { text: `${beyond.length} statements took up to ${sayTime(most)}`, seconds: most };
}

/** `duration: 21900.000 ms`, `took 22 s`, `Query_time: 21.9`. */
function saidDuration(text: string): number | undefined {
  const found = /(?:duration|took|elapsed|completed in|finished in)[:= ]+([\d.]+) ?(ms|s|sec|seconds)\b/i.exec(text);
  if (found !== null) return Number(found[1]) * (found[2]?.toLowerCase() === 'ms' ? 0.001 : 1);
  const query = /query_time:? ([\d.]+)/i.exec(text);
  return query === null ? undefined : Number(query[1]);
}

function elsewhere(view: View, binding: Cut): { text: string; holds: boolean } | undefined {
  const others = cutsOf(view).filter((cut) => cut.table !== binding.table);
  if (others.length === 0) return undefined;
  return {
    text: others.map((cut) => `${cut.place ?? cut.table.origin.file}: ${sayTime(cut.at)}`).join(', '),
    holds: others.every((cut) => cut.at >= binding.at * 0.995 - 0.01),
  };
}

/** From settings alone: a caller whose deadline is before the worst case of what it calls. */
function configured(view: View): ReturnType<DossierTheory['examine']> {
  const caller = view.setting(
    'downstream.request-timeout',
    ({ value, implied }) => typeof value === 'number' && !implied,
  );
  if (caller === undefined) return undefined;
  const inner = view
    .settings('route.timeout', 'upstream.read-timeout', 'dependency.timeout')
    .filter((setting) => setting.origin.file !== caller.origin.file && typeof setting.value === 'number')
    .toSorted((one, other) => Number(other.value) - Number(one.value))[0];
  if (inner === undefined) return undefined;
  const failures = view.tables.some((table) => rowsWhere(table, (row) => isError(table, row)).length > 0);
  return {
    basis: 'configured',
    claims: [
      claim('Failures take the same time.', {
        bearing: 'necessary',
        predicted: `${sayTime(Number(caller.value))}, within 2 %`,
        refutes: 'failures that take differently long',
        seen: failures ? { text: 'failures without a plateau', holds: false } : undefined,
        missing: 'an access log of the time',
      }),
      claim('The caller gives up before what it calls does.', {
        bearing: 'sufficient',
        predicted: `the caller waits at least ${sayTime(Number(inner.value))}`,
        refutes: 'a caller that waits longer',
        seen: hasSymptoms(view)
          ? undefined
          : {
              text: `${sayDurationSetting(caller)}; ${sayDurationSetting(inner)}`,
              holds: Number(caller.value) < Number(inner.value),
              origins: [caller.origin, inner.origin],
            },
        missing: 'requests that end at the caller’s deadline: there is traffic, and it does not show it',
      }),
    ],
    culprit: sayDurationSetting(caller),
    sentence: `The caller gives up after ${sayTime(Number(caller.value))}, ${ownerOf(inner)} only after ${sayTime(Number(inner.value))}: longer work is done for nobody.`,
    arithmetic: [`${sayTime(Number(caller.value))} < ${sayTime(Number(inner.value))}`],
  };
}
