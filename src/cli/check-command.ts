// The flags of `plimsoll check`, for the table of commands.

import type { Command } from 'commander';

export function checkCommand(program: Command, done: (code: number) => void): void {
  program
    .command('check')
    .description('look at configurations before any load: timeouts, retries, pools, evictions, keep-alive, ceilings')
    .argument(
      '<config...>',
      'HAProxy, nginx, Envoy, Kubernetes, servers, notes, our scenarios and gateway files, in the order in which a request meets them',
    )
    .option('--rate <per second>', 'requests a second that are meant')
    .option('--spare <times>', 'how many times the usual load can be carried', '1.5')
    .option('--json', 'the findings as JSON on standard output')
    .option('--sarif <file>', 'the findings as SARIF 2.1.0 into this file; - is standard output')
    .action(async (paths: string[], options: object) => {
      const { check } = await import('./commands/check.ts');
      done(await check(paths, options));
    });
}
