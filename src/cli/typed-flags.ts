// The options of a command as commander hands them over, held against what the command expects of each.

import type { z } from 'zod';
import { UsageError } from './exit.ts';

/** Throws `UsageError` with every mistake at once, each with its option as a person writes it: `--until-relative-error`. */
export function typedFlags<Schema extends z.ZodType>(schema: Schema, options: object): z.output<Schema> {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new UsageError(parsed.error.issues.map((issue) => `${flagName(issue.path[0])}: ${issue.message}`).join('\n'));
}

const flagName = (key: PropertyKey | undefined): string =>
  `--${String(key).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
