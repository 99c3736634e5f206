// A prediction and what was seen, on one small line: the band is what the theory said beforehand, the mark with its whiskers
// what was observed. That they meet, or do not, is the whole audit.
//
//        ▒▒▒▒▒▒▒▒▒▒
//   ─────▒▒▒▒├─●─┤▒──────

import type { AuditRow } from '../diagnose.ts';

const size = { width: 140, height: 18, edge: 6 };

/** SVG, or undefined where there is nothing to draw: no number was predicted, or none seen. */
export function auditStrip({ predicted, observed, result }: AuditRow): string | undefined {
  if (predicted?.unit === 'yes') return undefined;
  const seen = observed?.value;
  const low = finite(predicted?.low);
  const high = finite(predicted?.high);
  if (seen === undefined || !Number.isFinite(seen) || (low === undefined && high === undefined)) return undefined;
  if (predicted?.unit !== undefined && observed?.unit !== undefined && predicted.unit !== observed.unit)
    return undefined;
  const from = finite(observed?.low) ?? seen;
  const to = finite(observed?.high) ?? seen;
  const marks = [seen, from, to, ...(low === undefined ? [] : [low]), ...(high === undefined ? [] : [high])];
  const least = Math.min(...marks);
  const most = Math.max(...marks);
  // A bound with nothing on its other side leaves room there for the band to run on.
  const room = most > least ? 0.25 * (most - least) : Math.max(1, Math.abs(most)) * 0.25;
  const start = least - (low === undefined ? room : room / 2);
  const end = most + (high === undefined ? room : room / 2);
  const x = (value: number): number =>
    Math.round((size.edge + ((value - start) / (end - start)) * (size.width - 2 * size.edge)) * 10) / 10;
  const left = low === undefined ? 0 : x(low);
  const right = high === undefined ? size.width : x(high);
  const middle = size.height / 2;
  return [
    `<svg class="strip ${result}" viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" aria-hidden="true">`,
    `<line class="axis" x1="0" x2="${size.width}" y1="${middle}" y2="${middle}"/>`,
    `<rect class="band" x="${left}" y="3" width="${Math.max(2, Math.round((right - left) * 10) / 10)}" height="${size.height - 6}" rx="2"/>`,
    `<line class="whisker" x1="${x(from)}" x2="${x(to)}" y1="${middle}" y2="${middle}"/>`,
    `<circle class="mark" cx="${x(seen)}" cy="${middle}" r="3.5"/>`,
    '</svg>',
  ].join('');
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}
