// `plimsoll theories` lists what a diagnosis can find; `plimsoll explain SLUG` is the page of one.

import { z } from 'zod';
import { catalogue, pagesOf } from '../../diagnose.ts';
import { theoryList, theoryPage } from '../../report.ts';
import { didYouMean } from '../../scenario.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';
import { columnsOf, paintFor } from '../terminal.ts';

const flags = z.object({ json: z.boolean().default(false) });

export function theoriesCommand(options: object): ExitCode {
  const { json } = flags.parse(options);
  const { stdout } = process;
  const pages = catalogue();
  const lines = json
    ? [JSON.stringify({ theories: pages }, undefined, 2)]
    : theoryList(pages, columnsOf(stdout), paintFor(stdout));
  stdout.write(`${lines.join('\n')}\n`);
  return exit.ok;
}

export function explain(slug: string, options: object): ExitCode {
  const { json } = flags.parse(options);
  const pages = pagesOf(slug);
  if (pages.length === 0) {
    const slugs = [...new Set(catalogue().map((page) => page.slug))];
    throw new UsageError(
      `no theory is called "${slug}".${didYouMean(slug, slugs)} plimsoll theories lists all ${slugs.length}`,
    );
  }
  const { stdout } = process;
  const lines = json
    ? [JSON.stringify({ theories: pages }, undefined, 2)]
    : pages.flatMap((page, index) => [
        ...(index === 0 ? [] : ['']),
        ...theoryPage(page, columnsOf(stdout), paintFor(stdout)),
      ]);
  stdout.write(`${lines.join('\n')}\n`);
  return exit.ok;
}
