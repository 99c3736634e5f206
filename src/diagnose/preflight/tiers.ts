// The tiers that a request passes, with what each may spend on it: how long one try waits for the next tier, how many tries there
// are, and what the whole may take.
//
//   HAProxy    one try: timeout server       tries: retries + 1, on answers only with retry-on     whole: none of its own
//   nginx      one try: proxy_read_timeout   tries: proxy_next_upstream_tries                      whole: none of its own
//   Envoy      one try: per_try_timeout      tries: num_retries + 1                                whole: the route's timeout

import { ns, type Duration } from '../../base.ts';
import { type CallSettings, worstCase } from '../../policy.ts';
import type { SettingFact, SettingKey } from '../../record.ts';
import type { View } from '../dossier/view.ts';

export interface Tier {
  readonly file: string;
  readonly program: string;
  readonly scope: string;
  /** What one try may wait for an answer, seconds, and the setting that says so. */
  readonly oneTry: number;
  readonly setting: SettingFact;
  readonly retries: number;
  readonly retriesSetting: SettingFact | undefined;
  readonly backOffMax: number;
  /** The time in which another try may begin, where one is set; a try that runs then goes on. */
  readonly window: SettingFact | undefined;
  /** The bound on all tries together, where one is set. */
  readonly whole: SettingFact | undefined;
  /** Seconds that a request may spend here at worst; Infinity: without end. */
  readonly worst: number;
}

const tryKeys = [
  'route.per-try-timeout',
  'upstream.read-timeout',
  'route.timeout',
  'downstream.request-timeout',
  'dependency.timeout',
] as const satisfies readonly SettingKey[];

/** Every place of a file at which a try is timed. */
export function tiersOf(view: View, file: string): Tier[] {
  const own = view.dossier.settings.filter(({ origin }) => origin.file === file);
  const scopes = Map.groupBy(own, ({ program, scope }) => `${program} ${scope}`);
  return [...scopes.values()].flatMap((settings) => tierOf(settings) ?? []);
}

function tierOf(settings: readonly SettingFact[]): Tier | undefined {
  const find = (key: SettingKey): SettingFact | undefined => {
    const found = settings.filter((one) => one.key === key && typeof one.value === 'number');
    return found.find(({ implied }) => !implied) ?? found[0];
  };
  const setting = tryKeys.map(find).find((found) => found !== undefined);
  if (setting === undefined) return undefined;
  const whole = setting.key === 'route.timeout' ? setting : find('route.timeout');
  const retriesSetting = find('route.retries');
  const retries = repeatsAnswers(settings) ? Number(retriesSetting?.value ?? 0) : 0;
  const backOffMax = Number(find('retry.backoff')?.value ?? 0);
  const oneTry = Number(setting.value);
  const window = find('retry.window');
  const begun = Math.min(retries, Math.floor(endOf(window) / oneTry));
  const worst = Math.min(worstOf(oneTry, begun, backOffMax), endOf(whole));
  return {
    file: setting.origin.file,
    program: setting.program,
    scope: setting.scope,
    oneTry,
    setting,
    retries,
    retriesSetting,
    backOffMax,
    window: Number.isFinite(endOf(window)) ? window : undefined,
    whole,
    worst,
  };
}

/** HAProxy tries again when it could not connect, unless it was told more. */
function repeatsAnswers(settings: readonly SettingFact[]): boolean {
  const on = settings.find(({ key }) => key === 'route.retry-on');
  return on?.program !== 'haproxy' || /response-timeout|all-retryable|empty-response/.test(String(on.value));
}

/** 0 and Infinity mean that a route has no bound of its own. */
function endOf(whole: SettingFact | undefined): number {
  const value = Number(whole?.value ?? 0);
  return value > 0 ? value : Number.POSITIVE_INFINITY;
}

/** Attempts and pauses at worst, by the arithmetic that our own gateway is held to. */
export function worstOf(oneTry: number, retries: number, backOffMax: number): number {
  const call: CallSettings = {
    name: '',
    timeout: Number.isFinite(oneTry) && oneTry > 0 ? lengthOf(oneTry) : undefined,
    retries,
    backOffMax: lengthOf(backOffMax),
  };
  const worst = worstCase(call);
  return worst === undefined ? Number.POSITIVE_INFINITY : worst / 1e9;
}

function lengthOf(seconds: number): Duration {
  return ns(Math.round(seconds * 1e9));
}
