// The load line as a mark on a hull, and the sentences that belong to it. The same drawing stands under every run, where it was found by
// arithmetic on the record, and under `plimsoll load-line`, where it was searched for.
//
//   ████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░      floats │ floats until something happens │ sinks
//          ▲ line 107/s
//                        ▲ sinks 540/s

import type { LoadLineFacts } from '../diagnose.ts';
import type { Paint } from './paint.ts';

export interface LoadLineView {
  readonly scenario: string;
  readonly against: readonly string[];
  readonly unbounded: readonly string[];
  readonly fail: EdgeView;
  /** Undefined when the search was stopped before it. */
  readonly recover: EdgeView | undefined;
  readonly now: number | undefined;
  readonly runs: number;
  readonly certain: number;
}

export interface EdgeView {
  /** Undefined when the search was stopped before it was known. */
  readonly safe: number | undefined;
  readonly half: number;
  readonly low: number;
  readonly high: number;
}

/** What any drawing of a line needs: up to where it floats always, and up to where as long as nothing happens. */
export interface HullView {
  readonly line: number;
  readonly sinks: number;
  readonly now: number | undefined;
}

export const hullOfFacts = (line: Extract<LoadLineFacts, { kind: 'line' }>): HullView => ({
  line: line.safe_per_s,
  sinks: line.serves_per_s ?? line.safe_per_s,
  now: line.now_per_s,
});

/** Of an edge that was not searched to its end, where it surely is not yet. */
export const hullOf = ({ recover, fail, now }: LoadLineView): HullView => {
  const sinks = fail.safe ?? fail.low;
  return { line: recover === undefined ? 0 : Math.min(sinks, recover.safe ?? recover.low), sinks, now };
};

/** `safe load: 540/s; at 330/s this run is at 61 %`, or why there is none. */
export function safeLoadSentence(line: LoadLineFacts): string {
  if (line.kind === 'none') return `safe load: none to be told, for ${line.because}`;
  const { safe_per_s: safe, now_per_s: now, serves_per_s: serves = safe, share, against } = line;
  const fair = serves > 1.02 * safe ? `, and ${rate(serves)} as long as nothing happens` : '';
  return `safe load: ${rate(safe)}${fair}; at ${rate(now)} this run is at ${(100 * share).toFixed(0)} % (with ${against})`;
}

/** The sentence with the hull above it. */
export function safeLoadLines(line: LoadLineFacts, paint: Paint): string[] {
  const sentence = safeLoadSentence(line);
  if (line.kind === 'none') return [paint.odd(sentence)];
  return [...hullLines(hullOfFacts(line), paint), line.share > 1 ? paint.bad(sentence) : sentence];
}

const width = 64;

export function loadLineText(view: LoadLineView, paint: Paint): string[] {
  const { recover, fail, now, unbounded, against } = view;
  const line = recover?.safe ?? recover?.low;
  const found = unbounded.length > 0 ? 'none' : line === undefined ? 'not found yet' : rate(line);
  return [
    paint.strong(`load line of ${view.scenario}: ${found}`),
    paint.faint(`with ${against.length === 0 ? 'nothing wrong' : against.join(', ')}`),
    '',
    ...(recover === undefined ? [] : [...hullLines(hullOf(view), paint), '']),
    ...unbounded.map((call) =>
      paint.bad(`${call} has no timeout: when it stalls no load is safe. What follows supposes that it does not.`),
    ),
    ...(recover === undefined ? [] : [edgeText('it is back thirty seconds after a slow spell of fifteen', recover)]),
    edgeText('it works as long as nothing happens', fail),
    ...nowLines(now, view, paint),
    paint.faint(`${view.runs} imagined runs${recover?.safe === undefined ? '' : safeText(view.certain)}.`),
  ];
}

function edgeText(what: string, { safe, half, low, high }: EdgeView): string {
  const half95 = `half of the runs at ${rate(half)} (${rate(low)} … ${rate(high)})`;
  return safe === undefined
    ? `Stopped on the way: ${what} up to somewhere between ${rate(low)} and ${rate(high)}.`
    : `Up to ${rate(safe)} ${what}; ${half95}.`;
}

/** What so many good runs in a row say with 95 % confidence. */
const safeText = (certain: number): string =>
  `; safe: ${certain} of ${certain}${certain === 20 ? ', so that fewer than one in seven fail' : ''}`;

function nowLines(now: number | undefined, view: LoadLineView, paint: Paint): string[] {
  const { line, sinks } = hullOf(view);
  if (now === undefined || view.recover === undefined) return [];
  if (now <= line) return [paint.good(`It is loaded with ${rate(now)}: above water.`)];
  if (now <= sinks) {
    return [paint.odd(`It is loaded with ${rate(now)}: it floats until something happens, and may then stay down.`)];
  }
  return [paint.bad(`It is loaded with ${rate(now)}: with one replica less it sinks.`)];
}

/** The hull and its marks. */
export function hullLines({ line, sinks, now }: HullView, paint: Paint): string[] {
  const most = hullScale({ line, sinks, now });
  const at = (value: number): number => Math.min(width - 1, Math.round((value / most) * width));
  const safe = at(line);
  const edge = Math.max(safe, at(sinks));
  const hull = [
    paint.good('█'.repeat(safe)),
    paint.odd('▒'.repeat(edge - safe)),
    paint.bad('░'.repeat(Math.max(0, width - edge))),
  ].join('');
  const marks = [
    { place: safe, text: `line ${rate(line)}` },
    ...(edge - safe < 2 ? [] : [{ place: edge, text: `sinks ${rate(sinks)}` }]),
    ...(now === undefined ? [] : [{ place: at(now), text: `now ${rate(now)}` }]),
  ];
  return [`  ${hull}`, ...marks.map(({ place, text }) => `  ${markAt(place, text)}`)];
}

/** The words stand on the side where there is room for them. */
const markAt = (place: number, text: string): string =>
  place + text.length + 2 <= width + 12
    ? `${' '.repeat(place)}▲ ${text}`
    : `${' '.repeat(Math.max(0, place - text.length - 1))}${text} ▲`;

/** The load at the right end of a drawing. */
export const hullScale = ({ line, sinks, now }: HullView): number => 1.25 * Math.max(line, sinks, now ?? 0, 1);

export const rate = (value: number): string =>
  `${value < 10 ? value.toFixed(1) : Math.floor(value).toLocaleString('en')}/s`;
