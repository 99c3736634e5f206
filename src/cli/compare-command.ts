// The flags of `plimsoll compare`, for the table of commands.

import type { Command } from 'commander';

export function compareCommand(program: Command, done: (code: number) => void): void {
  program
    .command('compare')
    .description('two runs or sets of runs beside each other: sign off, conditional or reject')
    .argument('[path...]', 'the base and the candidate: a record, the folder of a run, or a folder of such')
    .option('--run <scenario>', 'make the runs now, A-B-B-A, instead of reading them')
    .option('--set <path=value...>', 'with --run: what the candidate changes')
    .option('--base-set <path=value...>', 'with --run: what both sides change first')
    .option('--world <world>', 'with --run: lab or sim', 'lab')
    .option('--gateway <program>', 'with --run: what balances: plimsoll, haproxy, nginx or envoy', 'plimsoll')
    .option('--duration <duration>', 'with --run: how long each run is judged')
    .option('--rounds <count>', 'with --run: so often A-B-B-A', '2')
    .option('--seed <number>', 'with --run: seed of the first run')
    .option('--out <folder>', 'with --run: where the runs go')
    .option('--smallest-effect <share...>', 'what matters: 3% of everything, or p99=10% of one figure (default: 5%)')
    .option('--objective <threshold...>', 'such as "http_req_duration: p(95)<200"')
    .option('--json', 'the comparison as JSON on standard output')
    .option('--markdown', 'the comparison as a document')
    .option('--junit <file>', 'write it as JUnit XML too')
    .action(async (paths: string[], options: object) => {
      const { compare } = await import('./commands/compare.ts');
      done(await compare(paths, options));
    });
}
