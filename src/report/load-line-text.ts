// The load line as a mark on a hull, and the sentence that belongs to it.
//
//   floats │▒▒ until something happens ▒▒│ sinks
//   ───────┴──────────────────────▲──────┴─────────
//        196/s                  560/s  588/s

import type { LoadLineFacts } from '../diagnose.ts';
import type { Paint } from './paint.ts';

export interface LoadLineView {
  readonly scenario: string;
  readonly against: readonly string[];
  readonly unbounded: readonly string[];
  readonly fail: { readonly safe: number; readonly half: number };
  readonly recover: { readonly safe: number; readonly half: number };
  readonly now: number | undefined;
  readonly runs: number;
}

/** `safe load: 540/s; at 330/s this run is at 61 %`, or why there is none. */
export function safeLoadSentence(line: LoadLineFacts): string {
  if (line.kind === 'none') return `safe load: none to be told, for ${line.because}`;
  const { safe_per_s: safe, now_per_s: now, share, against } = line;
  return `safe load: ${rate(safe)}; at ${rate(now)} this run is at ${(100 * share).toFixed(0)} % (with ${against})`;
}

/** The sentence with the mark above it: how far the load comes up to the line, and beyond. */
export function safeLoadLines(line: LoadLineFacts, paint: Paint): string[] {
  const sentence = safeLoadSentence(line);
  if (line.kind === 'none') return [paint.odd(sentence)];
  const mark = 40;
  const filled = Math.min(mark + 12, Math.round(mark * line.share));
  const below = '█'.repeat(Math.min(filled, mark)).padEnd(mark, '░');
  const above = '█'.repeat(Math.max(0, filled - mark));
  const colour = line.share > 1 ? paint.bad : paint.good;
  return [`  ${colour(below)}▏${paint.bad(above)}`, line.share > 1 ? paint.bad(sentence) : sentence];
}

const width = 64;

export function loadLineText(view: LoadLineView, paint: Paint): string[] {
  const { recover, fail, now, unbounded } = view;
  return [
    paint.strong(`load line of ${view.scenario}: ${unbounded.length > 0 ? 'none' : rate(recover.safe)}`),
    paint.faint(`with ${view.against.length === 0 ? 'nothing wrong' : view.against.join(', ')}`),
    '',
    ...drawing(view, paint),
    '',
    ...unbounded.map((call) =>
      paint.bad(`${call} has no timeout: when it stalls no load is safe. What follows supposes that it does not.`),
    ),
    `Up to ${rate(recover.safe)} it is back thirty seconds after a slow spell of fifteen (half of the runs are at ${rate(recover.half)}).`,
    `Up to ${rate(fail.safe)} it works as long as nothing happens (half of the runs do at ${rate(fail.half)}).`,
    ...nowLines(now, view, paint),
    paint.faint(`${view.runs} imagined runs; safe: all of twenty.`),
  ];
}

function nowLines(now: number | undefined, { recover, fail }: LoadLineView, paint: Paint): string[] {
  if (now === undefined) return [];
  if (now <= recover.safe) return [paint.good(`It is loaded with ${rate(now)}: above water.`)];
  if (now <= fail.safe) {
    return [paint.odd(`It is loaded with ${rate(now)}: it floats until something happens, and may then stay down.`)];
  }
  return [paint.bad(`It is loaded with ${rate(now)}: with one replica less it sinks.`)];
}

function drawing({ recover, fail, now }: LoadLineView, paint: Paint): string[] {
  const most = 1.25 * Math.max(recover.half, fail.half, now ?? 0, 1);
  const at = (value: number): number => Math.min(width - 1, Math.round((value / most) * width));
  const safe = at(recover.safe);
  const edge = Math.max(safe, at(fail.safe));
  const hull = [
    paint.good('█'.repeat(safe)),
    paint.odd('▒'.repeat(edge - safe)),
    paint.bad('░'.repeat(Math.max(0, width - edge))),
  ].join('');
  const marks = [
    { place: safe, text: `▲ line ${rate(recover.safe)}` },
    ...(edge - safe < 2 ? [] : [{ place: edge, text: `▲ sinks ${rate(fail.safe)}` }]),
    ...(now === undefined ? [] : [{ place: at(now), text: `▲ now ${rate(now)}` }]),
  ];
  return [`  ${hull}`, ...marks.map(({ place, text }) => `  ${' '.repeat(place)}${text}`)];
}

const rate = (value: number): string => `${Math.floor(value)}/s`;
