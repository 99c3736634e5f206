// The flags of `plimsoll theories` and `plimsoll explain`, for the table of commands.

import type { Command } from 'commander';

export function theoryCommands(program: Command, done: (code: number) => void): void {
  program
    .command('theories')
    .description('list what a diagnosis can find')
    .option('--json', 'every page as JSON on standard output')
    .action(async (options: object) => {
      const { theoriesCommand } = await import('./commands/theories.ts');
      done(theoriesCommand(options));
    });

  program
    .command('explain')
    .description('the page of one theory: what happens, what it predicts, what refutes or proves it, what to do')
    .argument('<slug>', 'its name, such as convoy (plimsoll theories lists them)')
    .option('--json', 'the page as JSON on standard output')
    .action(async (slug: string, options: object) => {
      const { explain } = await import('./commands/theories.ts');
      done(explain(slug, options));
    });
}
