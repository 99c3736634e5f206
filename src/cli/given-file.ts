// A file of requests that was given with `--from`: what it asks for, and every mistake in it told with the other flags'.

import { readSource, type SourceRequest } from '../load.ts';
import type { FlagReader } from './flag-reader.ts';

/** A file that was given with a flag. */
export interface GivenFile {
  readonly name: string;
  readonly text: string;
}

/** Its requests; what cannot be read is told to the reader, or to the person where the rest can be used. */
export function requestsIn(
  { name, text }: GivenFile,
  weights: readonly string[],
  reader: FlagReader,
): readonly SourceRequest[] {
  const source = readSource(text, weightsOf(weights, reader));
  const place = (line: number | undefined): string => `${name}${line === undefined ? '' : `:${line}`}`;
  if (source === undefined) {
    reader.wrong(
      `${name}: expected curl commands, a HAR, targets of vegeta, an access log or an OpenAPI document, and it is none of them`,
    );
    return [];
  }
  if (weights.length > 0 && source.format !== 'openapi') {
    reader.wrong(`--weight is of the operations of an OpenAPI document, and ${name} is none`);
  }
  for (const note of source.notes ?? []) process.stderr.write(`${name}: ${note}\n`);
  const isFatal = source.strict === true || source.requests.length === 0;
  for (const { line, message } of source.problems) {
    if (isFatal) reader.wrong(`${place(line)}: ${message}`);
    else process.stderr.write(`${place(line)}: left out: ${message}\n`);
  }
  if (source.requests.length === 0 && source.problems.length === 0) reader.wrong(`${name}: there is no request in it`);
  return source.requests;
}

/** `listItems=5`. */
function weightsOf(lines: readonly string[], reader: FlagReader): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const line of lines) {
    const [, name, count] = /^(.+)=(\d{1,4})$/.exec(line) ?? [];
    if (name === undefined || Number(count) > 1000) {
      reader.wrong(
        `--weight: found "${line}", expected an operation and a whole number up to 1000, such as listItems=5`,
      );
    } else weights.set(name.trim(), Number(count));
  }
  return weights;
}
