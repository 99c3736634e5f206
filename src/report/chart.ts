// One picture of a run: what was in flight in each replica, second by second, with the phases behind it. SVG as text, with
// no script and no font of its own, so that it can stand in a README, an incident document or a mail.
//
//   64 ┤  baseline      │ stop-replica │ …
//      │   ╭──────  api-2
//    0 ┼───────────────────────────────► s

import type { TickLine } from '../record.ts';

export interface ChartInput {
  readonly title: string;
  readonly ticks: readonly TickLine[];
}

const size = { width: 960, height: 360, left: 48, right: 84, top: 56, bottom: 36 };
/** Distinguishable without red against green, on white and on dark grey. */
const colours = ['#3b7dd8', '#d9822b', '#2a9d8f', '#8a5cc9', '#c2527f', '#7a8b2a', '#5b6b7a', '#b0563b'];

/** An SVG document. Dependencies are left out: they are not balanced. */
export function inFlightChart({ title, ticks }: ChartInput): string {
  const ids = replicaIds(ticks);
  const origin = ticks[0]?.at_ns ?? 0;
  const last = ticks.at(-1);
  const endSeconds = last === undefined ? 1 : Math.max(1, (last.at_ns + last.span_ns - origin) / 1e9);
  const highest = niceCeiling(
    Math.max(1, ...ticks.flatMap((tick) => tick.replicas.map((one) => one.in_flight_mean ?? 0))),
  );
  const plotWidth = size.width - size.left - size.right;
  const plotHeight = size.height - size.top - size.bottom;
  const x = (seconds: number): number => round(size.left + (seconds / endSeconds) * plotWidth);
  const y = (level: number): number => round(size.top + plotHeight - (level / highest) * plotHeight);
  const secondsOf = (tick: TickLine): number => (tick.at_ns + tick.span_ns / 2 - origin) / 1e9;

  const parts: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${escape(title)}</title>`,
    `<rect width="${size.width}" height="${size.height}" fill="#ffffff"/>`,
    `<text x="${size.left}" y="20" font-size="15" font-weight="600" fill="#1c2733">${escape(title)}</text>`,
  ];
  for (const [index, phase] of phaseSpans(ticks, origin).entries()) {
    const from = x(phase.from);
    const width = round(x(phase.to) - from);
    const shade = index % 2 === 0 ? '#f3f5f7' : '#e8ecf0';
    parts.push(`<rect x="${from}" y="${size.top}" width="${width}" height="${plotHeight}" fill="${shade}"/>`);
    parts.push(`<text x="${from + 4}" y="${size.top - 6}" font-size="11" fill="#44525f">${escape(phase.name)}</text>`);
  }
  for (let step = 0; step <= 4; step++) {
    const level = (highest / 4) * step;
    parts.push(
      `<line x1="${size.left}" x2="${size.width - size.right}" y1="${y(level)}" y2="${y(level)}" stroke="#c9d1d9" stroke-width="0.5"/>`,
    );
    parts.push(`<text x="${size.left - 6}" y="${y(level) + 4}" text-anchor="end" fill="#44525f">${level}</text>`);
  }
  parts.push(`<text x="${size.left}" y="${size.height - 10}" fill="#44525f">0 s</text>`);
  parts.push(
    `<text x="${size.width - size.right}" y="${size.height - 10}" text-anchor="end" fill="#44525f">${Math.round(endSeconds)} s</text>`,
  );
  const labels: { id: string; colour: string; at: number }[] = [];
  for (const [index, id] of ids.entries()) {
    const colour = colours[index % colours.length] ?? '#000000';
    const points = ticks.flatMap((tick, at) => {
      const level = tick.replicas.find((one) => one.id === id)?.in_flight_mean;
      const point = level === undefined ? undefined : { x: x(secondsOf(tick)), y: y(level) };
      // Between two phases the load is stopped and started again: nothing connects them.
      return at > 0 && ticks[at - 1]?.phase !== tick.phase ? [undefined, point] : [point];
    });
    parts.push(`<path d="${pathOf(points)}" fill="none" stroke="${colour}" stroke-width="2" stroke-linejoin="round"/>`);
    labels.push({ id, colour, at: points.findLast((point) => point !== undefined)?.y ?? y(0) });
  }
  for (const label of spreadOut(labels)) {
    parts.push(
      `<text x="${size.width - size.right + 6}" y="${label.at + 4}" fill="${label.colour}" font-weight="600">${escape(label.id)}</text>`,
    );
  }
  parts.push('</svg>');
  return `${parts.join('\n')}\n`;
}

function replicaIds(ticks: readonly TickLine[]): string[] {
  const ids = new Set<string>();
  for (const tick of ticks) {
    for (const replica of tick.replicas) if ((replica.finished ?? 0) > 0) ids.add(replica.id);
  }
  return [...ids].sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
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

/** Moves names apart that would be written over each other, top to bottom. */
function spreadOut<Label extends { at: number }>(labels: readonly Label[]): Label[] {
  const sorted = labels.toSorted((one, other) => one.at - other.at);
  let free = 0;
  for (const label of sorted) {
    label.at = Math.max(label.at, free);
    free = label.at + 14;
  }
  return sorted;
}

function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 2, 4, 8, 10];
  return (steps.find((step) => step * power >= value) ?? 10) * power;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
