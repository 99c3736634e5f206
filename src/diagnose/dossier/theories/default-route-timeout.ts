// Nobody wrote a timeout, so the program's own binds.

import type { SettingFact } from '../../../record.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { View } from '../view.ts';
import { bindersOf, type Cut, cutsOf, documentedDefaults, saysTime } from '../view-cuts.ts';
import { hasSymptoms } from '../view-symptoms.ts';
import { nativeName, ownerOf, sayDurationSetting, sayPart, sayTime } from '../view-words.ts';

export const defaultRouteTimeout: DossierTheory = {
  slug: 'default-route-timeout',
  title: 'A default binds: the timeout that nobody wrote',
  mechanism:
    'A proxy that was told no timeout has one all the same: 15 s for a route of Envoy, 60 s for nginx and for an AWS balancer. ' +
    'It bounds the whole request, all tries together, so a longer timeout for one try or a number of retries is dead ' +
    'configuration. Where errors travel in a trailer, as with gRPC, the status in the log is 200 all the same.',
  refutedBy: 'A timeout of that length that somebody wrote, or failures that take differently long.',
  provedBy: 'The proxy’s own timeout at exactly the documented default, where the setting is absent.',
  lookAlikes: ['timeout-inversion', 'retry-window-too-short', 'a backend that hangs'],
  fix: 'Write the timeout: at least (retries + 1) × the timeout of one try, and more than the work; for streams none at all. Count errors by the proxy’s flag or by grpc-status, not by HTTP status.',
  decidedBy: 'the configuration of the route, with and without defaults, and an access log with the proxy’s own reason',
  explains: ['timeout-inversion', 'retry-window-too-short', 'healthy'],

  examine(view) {
    const cuts = cutsOf(view).filter((cut) => cut.stage === 'answer');
    const found = cuts.flatMap((cut) => boundBy(view, cut) ?? []);
    const [best] = found.toSorted((one, other) => Number(other.implied) - Number(one.implied));
    if (best === undefined) return configured(view, cuts);
    const { cut, seconds, setting, told } = best;
    const perTry = longerTry(view, seconds, setting);
    const counts = countersOf(view);
    const where = setting?.scope ?? cut.place ?? '';
    const upstream = cut.table.replicas.length === 1 ? cut.table.replicas[0] : undefined;
    return {
      claims: [
        claim('Requests that were given up all took the default time.', {
          bearing: 'necessary',
          predicted: `${sayTime(seconds)}, within 2 %`,
          refutes: 'another time, or none in common',
          seen: {
            text: `${sayPart(cut.rows.length, cut.failures)} within ${sayTime(cut.spread)} of ${sayTime(cut.at)}`,
            holds: true,
            origins: [cut.table.origin],
          },
        }),
        claim('Nobody wrote that timeout.', {
          bearing: 'necessary',
          predicted: 'no such setting',
          refutes: `a written timeout of ${sayTime(seconds)}`,
          seen:
            told === undefined
              ? setting === undefined
                ? undefined
                : { text: sayDurationSetting(setting), holds: true, origins: [setting.origin] }
              : { text: sayDurationSetting(told), holds: false, origins: [told.origin] },
          missing: 'the configuration of the proxy',
        }),
        claim('It was the proxy itself that gave up, at its documented default.', {
          bearing: 'sufficient',
          predicted: `${cut.table.program} ends them at ${sayTime(seconds)} and gets no answer`,
          refutes: 'an answer of the upstream',
          seen: {
            text: `${cut.rows.length} ended by ${cut.table.program} without an answer${cut.masked ? ', with a status of success' : ''}`,
            holds: cut.rows.every((row) => !(cut.table.upstreamStatus[row] === 200)),
            origins: [cut.table.origin],
          },
        }),
        claim('What was to be tried again never was: the first try spent all the time.', {
          bearing: 'supporting',
          predicted: 'no retry, no timeout of one try',
          refutes: 'retries',
          seen: counts,
          missing: 'the proxy’s counters of retries',
        }),
      ],
      culprit:
        (setting === undefined
          ? `${cut.table.program} ${documentedDefaults[cut.table.program]?.name ?? 'timeout'} ${sayTime(seconds)} (default)`
          : `${ownerOf(setting)}: ${nativeName(setting)} unset (${sayTime(seconds)})`) +
        (perTry === undefined ? '' : ` below ${nativeName(perTry)} ${sayTime(Number(perTry.value))}`) +
        (setting === undefined && where !== '' ? ` on ${where}` : '') +
        (setting === undefined && upstream !== undefined ? `, upstream ${upstream}` : ''),
      sentence:
        `Nobody set a timeout, so the default of ${sayTime(seconds)} ends every longer request` +
        (perTry === undefined
          ? ''
          : `; the ${sayTime(Number(perTry.value))} for one try and the retries never come into force`) +
        (cut.masked ? '. The log calls them successes: the error is in the trailer.' : '.'),
      arithmetic: [
        `${cut.rows.length} requests ended at ${sayTime(cut.at)} = ${sayTime(seconds)} + ${sayTime(Math.max(0, cut.at - seconds))}`,
        ...(perTry === undefined
          ? []
          : [`${sayTime(seconds)} (whole request) < ${sayTime(Number(perTry.value))} (one try)`]),
      ],
    };
  },
};

interface Bound {
  readonly cut: Cut;
  readonly seconds: number;
  readonly setting: SettingFact | undefined;
  readonly implied: boolean;
  /** A timeout of that length which somebody did write, for the same program. */
  readonly told: SettingFact | undefined;
}

/** The default that ends at the cut: implied by a configuration, or documented where none was given. */
function boundBy(view: View, cut: Cut): Bound | undefined {
  const binders = bindersOf(view, cut);
  const told = binders.find((setting) => !setting.implied && setting.program === programOf(cut.table.program));
  const implied = binders.find((setting) => setting.implied);
  if (implied !== undefined) return { cut, seconds: Number(implied.value), setting: implied, implied: true, told };
  if (told !== undefined) return undefined;
  const documented = documentedDefaults[cut.table.program];
  if (documented === undefined || Math.abs(cut.at - documented.seconds) > 0.02 * documented.seconds) return undefined;
  return { cut, seconds: documented.seconds, setting: undefined, implied: false, told };
}

/** The log of an AWS balancer and its attributes go by two names. */
function programOf(program: string): string {
  return program === 'alb' ? 'aws' : program;
}

function longerTry(view: View, seconds: number, setting: SettingFact | undefined): SettingFact | undefined {
  return view.setting(
    'route.per-try-timeout',
    (one) =>
      typeof one.value === 'number' && one.value > seconds && (setting === undefined || one.scope === setting.scope),
  );
}

/** Envoy counts what its router did. */
function countersOf(view: View): { text: string; holds: boolean } | undefined {
  const retries = view.total((name) => name.endsWith('upstream_rq_retry'));
  const perTry = view.total((name) => name.endsWith('upstream_rq_per_try_timeout'));
  if (retries === undefined && perTry === undefined) return undefined;
  return {
    text: `${retries?.value ?? 0} retries, ${perTry?.value ?? 0} timeouts of one try`,
    holds: (retries?.value ?? 0) === 0 && (perTry?.value ?? 0) === 0,
  };
}

/** From settings alone: one try is allowed more than all of them together, because the whole was left at its default. */
function configured(view: View, cuts: readonly Cut[]): ReturnType<DossierTheory['examine']> {
  const pair = view
    .settings('route.timeout')
    .filter((whole) => whole.implied && typeof whole.value === 'number')
    .flatMap((whole) => {
      const one = longerTry(view, Number(whole.value), whole);
      return one === undefined ? [] : [{ whole, one }];
    })[0];
  if (pair === undefined) return undefined;
  const { whole, one } = pair;
  const other = cuts.find((cut) => !saysTime(whole, cut.at));
  return {
    basis: 'configured',
    claims: [
      claim('Requests are cut at the default, not before or after.', {
        bearing: 'necessary',
        predicted: sayTime(Number(whole.value)),
        refutes: 'another time',
        seen:
          other === undefined ? undefined : { text: sayTime(other.at), holds: false, origins: [other.table.origin] },
        missing: 'an access log with durations',
      }),
      claim('One try is allowed more than all tries together.', {
        bearing: 'sufficient',
        predicted: `a try of more than ${sayTime(Number(whole.value))}`,
        refutes: 'tries that fit',
        seen: hasSymptoms(view)
          ? undefined
          : { text: sayDurationSetting(one), holds: true, origins: [one.origin, whole.origin] },
        missing: 'requests that end at the default: there is traffic, and it does not show it',
      }),
    ],
    culprit: `${ownerOf(whole)}: ${nativeName(whole)} unset (${sayTime(Number(whole.value))}) below ${nativeName(one)} ${sayTime(Number(one.value))}`,
    sentence: `The whole request ends after ${sayTime(Number(whole.value))}, because nobody said otherwise: the ${sayTime(Number(one.value))} for one try and its retries are dead configuration.`,
    arithmetic: [`${sayTime(Number(whole.value))} (whole request) < ${sayTime(Number(one.value))} (one try)`],
  };
}
