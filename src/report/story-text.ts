// What happened in imagined time, an event a line: when, what, whose, and what a replica holds after it where that has changed.

import type { StationChange, StoryLine } from '../sim.ts';
import type { Paint } from './paint.ts';

/** `8.001628213 s  arrival  a request of callers  api-2: 3 in flight, 3 busy` */
export function storyLineText({ at_ns, event, of = '', changes }: StoryLine, paint: Paint): string {
  const at = `${(at_ns / 1e9).toFixed(9).padStart(13)} s`;
  return `${paint.faint(at)}  ${event.padEnd(12)}  ${of.padEnd(32)}  ${changes.map(changeText).join('; ')}`.trimEnd();
}

function changeText({ id, in_flight, busy, waiting }: StationChange): string {
  const queue = waiting === 0 ? '' : `, ${waiting} waiting`;
  return `${id}: ${in_flight} in flight, ${busy} busy${queue}`;
}
