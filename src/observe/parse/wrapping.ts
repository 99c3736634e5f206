// What a container's runtime puts around the lines of a program: a prefix, or a JSON object with the line inside. It is taken
// off before anybody looks at the lines.
//
//   2026-04-02T07:00:00.000000000Z stdout F …        Kubernetes' node
//   {"log":"…\n","stream":"stdout","time":"…"}       Docker
//   [pod/web-1/app] …                                kubectl logs --prefix
//   web-1  | …                                       docker compose

import { firstLines } from './format.ts';
import { parseJson } from './tree.ts';

/** Gives the line inside; the line itself when it is not wrapped. */
export type Unwrap = (line: string) => string;

const prefixes: readonly RegExp[] = [
  /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP] /,
  /^\[pod\/[^\]\s]+\] /,
  /^[a-z0-9][\w.-]* +\| (?=.)/,
];

/** How the lines of this text are wrapped; undefined when they are not. */
export function wrappingOf(head: string): Unwrap | undefined {
  const lines = firstLines(head, 20);
  if (lines.length === 0) return undefined;
  const most = (wrapped: (line: string) => boolean): boolean =>
    lines.slice(0, Math.max(1, lines.length - 1)).filter((line) => wrapped(line)).length >=
    Math.max(1, (lines.length - 1) * 0.9);
  const prefix = prefixes.find((one) => most((line) => one.test(line)));
  if (prefix !== undefined) return (line) => line.replace(prefix, '');
  return most((line) => fromDocker(line) !== undefined) ? (line) => fromDocker(line) ?? line : undefined;
}

function fromDocker(line: string): string | undefined {
  if (!line.startsWith('{"log":')) return undefined;
  const value = parseJson(line);
  if (typeof value !== 'object' || value === null || !('log' in value) || !('stream' in value)) return undefined;
  return typeof value.log === 'string' ? value.log.replace(/\r?\n$/, '') : undefined;
}

/** The same for a whole text. */
export function unwrapText(text: string, unwrap: Unwrap): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : unwrap(line)))
    .join('\n');
}
