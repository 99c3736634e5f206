// The load line as a picture: the three waters one after the other, the mark that is painted on hulls at the line, and how deep it
// lies now. SVG as text, with no script and no font of its own.
//
//            ⦵ line                          ▼ now
//   ┌────────┬───────────────────────┬───────────────┐
//   │ floats │ until something happens│     sinks     │
//   └────────┴───────────────────────┴───────────────┘
//   0      107/s                    540/s

import { escapeMarkup } from './html.ts';
import { hullOf, type HullView, hullScale, type LoadLineView, rate } from './load-line-text.ts';

const size = { width: 960, height: 168, left: 24, right: 24, top: 64, band: 52 };
/** Told apart without red against green: by lightness, and by their words. */
const colours = {
  floats: '#2a9d8f',
  until: '#e9c46a',
  sinks: '#c8553d',
  ink: '#1c2733',
  faint: '#44525f',
  now: '#1d3f72',
};
/** A water that is narrower than this has no room for its words. */
const wordsMin = 72;

/** An SVG document of a line that was searched for. */
export const loadLineSvg = (view: LoadLineView): string =>
  loadLinePicture(`load line of ${view.scenario}`, hullOf(view));

/** An SVG document. */
export function loadLinePicture(title: string, hull: HullView): string {
  const scale = hullScale(hull);
  const plotWidth = size.width - size.left - size.right;
  const x = (value: number): number => Math.round(size.left + (Math.min(value, scale) / scale) * plotWidth);
  const waters = [
    { from: 0, to: hull.line, colour: colours.floats, ink: '#ffffff', words: 'floats, whatever happens' },
    {
      from: hull.line,
      to: hull.sinks,
      colour: colours.until,
      ink: colours.ink,
      words: 'floats until something happens',
    },
    { from: hull.sinks, to: scale, colour: colours.sinks, ink: '#ffffff', words: 'sinks' },
  ].filter(({ from, to }) => to > from);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${size.width} ${size.height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<rect width="${size.width}" height="${size.height}" fill="#ffffff"/>`,
    ...waters.map(({ from, to, colour }) => band(x(from), x(to), colour)),
    ...waters.flatMap(({ from, to, ink, words }) => bandWords(x(from), x(to), ink, words)),
    plimsollMark(x(hull.line), rate(hull.line)),
    ...(hull.now === undefined ? [] : [loadMark(x(hull.now), rate(hull.now))]),
    text(size.left, bottom + 18, '0', colours.faint, 'start'),
    ...(hull.sinks > 1.02 * hull.line
      ? [sinksWords(x(hull.sinks), rate(hull.sinks), hull.now === undefined ? undefined : x(hull.now))]
      : []),
    '</svg>',
  ].join('\n');
}

const bottom = size.top + size.band;

const band = (from: number, to: number, colour: string): string =>
  `<rect x="${from}" y="${size.top}" width="${to - from}" height="${size.band}" fill="${colour}"/>`;

function bandWords(from: number, to: number, ink: string, words: string): readonly string[] {
  const room = to - from;
  const said = room > 7.5 * words.length ? words : (words.split(/[ ,]/)[0] ?? words);
  return room < wordsMin ? [] : [text((from + to) / 2, size.top + size.band / 2 + 5, said, ink, 'middle')];
}

/** The disc with a line through it that Samuel Plimsoll had painted on every British hull. */
function plimsollMark(at: number, words: string): string {
  const y = 32;
  return [
    `<g stroke="${colours.ink}" stroke-width="2.5" fill="none"><circle cx="${at}" cy="${y}" r="12"/>`,
    `<line x1="${at - 20}" x2="${at + 20}" y1="${y}" y2="${y}"/><line x1="${at}" x2="${at}" y1="${y + 12}" y2="${bottom}"/></g>`,
    text(
      at < size.width / 2 ? at + 26 : at - 26,
      y - 8,
      `load line ${words}`,
      colours.ink,
      at < size.width / 2 ? 'start' : 'end',
      600,
    ),
  ].join('');
}

/** Beside the dashes of the load where these would go through it. */
function sinksWords(at: number, words: string, now: number | undefined): string {
  const near = now !== undefined && Math.abs(now - at) < 40;
  if (!near) return text(at, bottom + 18, words, colours.ink, 'middle');
  return now < at
    ? text(Math.max(at, now + 8), bottom + 18, words, colours.ink, 'start')
    : text(Math.min(at, now - 8), bottom + 18, words, colours.ink, 'end');
}

/** The load as it is: dashes through the hull, and its words in a row of their own. */
function loadMark(at: number, words: string): string {
  const y = bottom + 24;
  const end = at > size.width - 140;
  return [
    `<line x1="${at}" x2="${at}" y1="${size.top}" y2="${y}" stroke="${colours.now}" stroke-width="2" stroke-dasharray="4 3"/>`,
    `<path d="M${at} ${y} l-8 14 h16 z" fill="${colours.now}"/>`,
    text(end ? at - 12 : at + 12, y + 13, `now ${words}`, colours.now, end ? 'end' : 'start', 600),
  ].join('');
}

function text(
  x: number,
  y: number,
  words: string,
  ink: string,
  anchor: 'start' | 'middle' | 'end',
  weight = 400,
): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${ink}" font-weight="${weight}">${escapeMarkup(words)}</text>`;
}
