// Lines over the seconds of a run, with its phases behind them. SVG as text, with no script and no font of its own, so that
// it can stand in a README, an incident document or a mail.
//
//   64 ┤  baseline      │ stop-replica │ …
//      │   ╭──────  api-2
//    0 ┼───────────────────────────────► s

import type { TickLine } from '../record.ts';
import { escapeMarkup } from './html.ts';

export interface Series {
  readonly name: string;
  /** One for each tick; undefined where nothing was observed. */
  readonly levels: readonly (number | undefined)[];
}

export interface LineChart {
  readonly title: string;
  readonly ticks: readonly TickLine[];
  readonly series: readonly Series[];
  /** How a level stands at the axis. */
  readonly say: (level: number) => string;
  /** `decades`: logarithmic, for what spans several of them. Levels are above nought then. */
  readonly scale?: 'decades';
}

const size = { width: 960, height: 360, left: 64, right: 84, top: 56, bottom: 36 };
/** Distinguishable without red against green, on white and on dark grey. */
const colours = ['#3b7dd8', '#d9822b', '#2a9d8f', '#8a5cc9', '#c2527f', '#7a8b2a', '#5b6b7a', '#b0563b'];
const ink = '#44525f';

/** An SVG document. */
export function lineChart({ title, ticks, series, say, scale }: LineChart): string {
  const origin = ticks[0]?.at_ns ?? 0;
  const last = ticks.at(-1);
  const endSeconds = last === undefined ? 1 : Math.max(1, (last.at_ns + last.span_ns - origin) / 1e9);
  const axis = scale === 'decades' ? decades(series) : quarters(series);
  const plotWidth = size.width - size.left - size.right;
  const plotHeight = size.height - size.top - size.bottom;
  const x = (seconds: number): number => round(size.left + (seconds / endSeconds) * plotWidth);
  const y = (level: number): number => round(size.top + (1 - axis.share(level)) * plotHeight);

  const parts: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${size.width} ${size.height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<rect width="${size.width}" height="${size.height}" fill="#ffffff"/>`,
    `<text x="12" y="20" font-size="15" font-weight="600" fill="#1c2733">${escapeMarkup(title)}</text>`,
  ];
  for (const [index, phase] of phaseSpans(ticks, origin).entries()) {
    const from = x(phase.from);
    const width = round(x(phase.to) - from);
    const shade = index % 2 === 0 ? '#f3f5f7' : '#e8ecf0';
    parts.push(`<rect x="${from}" y="${size.top}" width="${width}" height="${plotHeight}" fill="${shade}"/>`);
    parts.push(
      `<text x="${from + 4}" y="${size.top - 6}" font-size="11" fill="${ink}">${escapeMarkup(phase.name)}</text>`,
    );
  }
  for (const level of axis.marks) {
    parts.push(
      `<line x1="${size.left}" x2="${size.width - size.right}" y1="${y(level)}" y2="${y(level)}" stroke="#c9d1d9" stroke-width="0.5"/>`,
      `<text x="${size.left - 6}" y="${y(level) + 4}" text-anchor="end" fill="${ink}">${escapeMarkup(say(level))}</text>`,
    );
  }
  parts.push(
    `<text x="${size.left}" y="${size.height - 10}" fill="${ink}">0 s</text>`,
    `<text x="${size.width - size.right}" y="${size.height - 10}" text-anchor="end" fill="${ink}">${Math.round(endSeconds)} s</text>`,
  );
  const labels: Label[] = [];
  for (const [index, { name, levels }] of series.entries()) {
    const colour = colours[index % colours.length] ?? '#000000';
    const points = ticks.flatMap((tick, at) => {
      const level = levels[at];
      const seconds = (tick.at_ns + tick.span_ns / 2 - origin) / 1e9;
      const point = level === undefined ? undefined : { x: x(seconds), y: y(level) };
      // Between two phases the load is stopped and started again: nothing connects them.
      return at > 0 && ticks[at - 1]?.phase !== tick.phase ? [undefined, point] : [point];
    });
    parts.push(`<path d="${pathOf(points)}" fill="none" stroke="${colour}" stroke-width="2" stroke-linejoin="round"/>`);
    labels.push({ name, colour, at: points.findLast((point) => point !== undefined)?.y ?? size.height - size.bottom });
  }
  for (const label of spreadOut(labels, size.height - size.bottom)) {
    parts.push(
      `<text x="${size.width - size.right + 6}" y="${label.at + 4}" fill="${label.colour}" font-weight="600">${escapeMarkup(label.name)}</text>`,
    );
  }
  parts.push('</svg>');
  return `${parts.join('\n')}\n`;
}

interface Label {
  readonly name: string;
  readonly colour: string;
  at: number;
}

interface Axis {
  readonly marks: readonly number[];
  /** Where a level stands between the lowest mark, 0, and the highest, 1. */
  share(level: number): number;
}

function quarters(series: readonly Series[]): Axis {
  let most = 0;
  for (const { levels } of series) for (const level of levels) most = Math.max(most, level ?? 0);
  const highest = niceCeiling(most > 0 ? most : 1);
  return { marks: [0, 1, 2, 3, 4].map((step) => (highest / 4) * step), share: (level) => level / highest };
}

function decades(series: readonly Series[]): Axis {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (const { levels } of series) {
    for (const level of levels) {
      if (level === undefined || level <= 0) continue;
      least = Math.min(least, level);
      most = Math.max(most, level);
    }
  }
  if (most === 0) return quarters(series);
  const from = Math.floor(Math.log10(least));
  const to = Math.max(from + 1, Math.ceil(Math.log10(most)));
  return {
    marks: Array.from({ length: to - from + 1 }, (_, step) => 10 ** (from + step)),
    share: (level) => Math.max(0, (Math.log10(level) - from) / (to - from)),
  };
}

function phaseSpans(ticks: readonly TickLine[], origin: number): { name: string; from: number; to: number }[] {
  const spans: { name: string; from: number; to: number }[] = [];
  for (const tick of ticks) {
    const from = (tick.at_ns - origin) / 1e9;
    const to = (tick.at_ns + tick.span_ns - origin) / 1e9;
    const current = spans.at(-1);
    if (current?.name === tick.phase) current.to = to;
    else spans.push({ name: tick.phase, from, to });
  }
  return spans;
}

/** A gap in what was observed is a gap in the line, not a fall to zero. */
function pathOf(points: readonly ({ x: number; y: number } | undefined)[]): string {
  let path = '';
  let drawing = false;
  for (const point of points) {
    if (point !== undefined) path += `${drawing ? 'L' : 'M'}${point.x} ${point.y}`;
    drawing = point !== undefined;
  }
  return path;
}

const lineHeight = 14;

/** Moves names apart that would be written over each other: down from above, then up from the lower edge. */
function spreadOut(labels: readonly Label[], bottom: number): Label[] {
  const sorted = labels.toSorted((one, other) => one.at - other.at);
  let free = 0;
  for (const label of sorted) {
    label.at = Math.max(label.at, free);
    free = label.at + lineHeight;
  }
  let ceiling = bottom;
  for (const label of sorted.toReversed()) {
    label.at = Math.min(label.at, ceiling);
    ceiling = label.at - lineHeight;
  }
  return sorted;
}

/** The next number whose quarters are easy to read. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10];
  return (steps.find((step) => step * power >= value) ?? 10) * power;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
