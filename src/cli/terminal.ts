// The terminal as it is right now: how wide, whether it can be repainted, whether it wants colour. Results go to stdout,
// talk to stderr, so that a pipe gets only results.

import { styleText } from 'node:util';
import { type Paint, plain } from '../report.ts';

export function paintFor(stream: NodeJS.WriteStream): Paint {
  if (!wantsColour(stream)) return plain;
  const style =
    (format: Parameters<typeof styleText>[0]) =>
    (text: string): string =>
      styleText(format, text, { validateStream: false });
  return {
    strong: style('bold'),
    faint: style('dim'),
    good: style('green'),
    bad: style('red'),
    odd: style('yellow'),
  };
}

export function columnsOf(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? Math.max(40, stream.columns) : 120;
}

function wantsColour(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '0' && FORCE_COLOR !== '') return true;
  return stream.isTTY && TERM !== 'dumb';
}
