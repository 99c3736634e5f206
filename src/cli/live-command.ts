// The flags of `plimsoll live`, for the table of commands.

import type { Command } from 'commander';

export function liveCommand(program: Command, done: (code: number) => void): void {
  program
    .command('live')
    .description('watch a gateway that serves, and do the experiment that would decide: asked first, bounded, undone')
    .argument('<admin-url>', 'the admin API of a plimsoll gateway, such as http://127.0.0.1:9901')
    .option('--watch <time>', 'how long to watch before anything is proposed', '15s')
    .option('--for <time>', 'how long an experiment lasts, a minute at most', '8s')
    .option('--users <count>', 'how many users wait for their answers, where that is known')
    .option('--yes', 'do what is proposed without asking')
    .option('--out <file>', 'write the record of it')
    .option('--json', 'the result as JSON on standard output')
    .action(async (url: string, options: object) => {
      const { live } = await import('./commands/live.ts');
      done(await live(url, options));
    });
}
