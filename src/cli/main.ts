// The command line: argv to a command, its exit code to the shell. Each command is loaded only when it is called, so that
// `plimsoll --help` is quick.

import { enableCompileCache } from 'node:module';
import { Command, CommanderError } from 'commander';
import { checkCommand } from './check-command.ts';
import { compareCommand } from './compare-command.ts';
import type { WhyOptions } from './commands/why.ts';
import { exit, UsageError } from './exit.ts';
import { liveCommand } from './live-command.ts';
import { loadCommand } from './load-command.ts';
import { theoryCommands } from './theories-command.ts';
import { version } from './version.ts';

enableCompileCache();
// Whoever closed the pipe (`| head`) has read enough.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit());
process.exitCode = await main(process.argv);
// What was written to a pipe may still be on its way: a reader that is slower than us gets all of it.
await Promise.all([written(process.stdout), written(process.stderr)]);
// A verdict has been given; nothing that lingers (a keep-alive socket, a timer) may hold the shell.
process.exit();

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableEnded) resolve();
    else stream.write('', () => resolve());
  });
}

async function main(argv: readonly string[]): Promise<number> {
  let code: number = exit.ok;
  const program = commands((result) => {
    code = result;
  });
  try {
    await program.parseAsync([...argv]);
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.usage;
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n`);
      return exit.usage;
    }
    process.stderr.write(`plimsoll: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return exit.internal;
  }
}

function commands(done: (code: number) => void): Command {
  const program = new Command('plimsoll')
    .description(
      'Load-tests load-balanced services, shows which replica carries the load, and proves why one misbehaves.',
    )
    .version(version)
    .exitOverride()
    .showHelpAfterError('(plimsoll --help tells what there is)')
    .addHelpText('after', '\nThe first thing to try:  plimsoll run convoy\n');

  program
    .command('run')
    .description('run a scenario on real processes of this machine, experiment, and give a verdict')
    .argument('<scenario>', 'a built-in scenario (plimsoll scenarios) or the path of one of your own')
    .option('--world <world>', 'lab: real processes on this machine (where it can be); sim: imagined time')
    .option('--gateway <program>', 'what balances: plimsoll, haproxy, nginx or envoy', 'plimsoll')
    .option('--policy <policy>', 'balancing policy: round-robin, random or least-request')
    .option('--seed <number>', 'seed of everything that is drawn (default: by chance)')
    .option('--duration <duration>', 'how long the baseline is judged, such as 30s')
    .option('--set <path=value...>', 'change the scenario first, such as --set faults.0.slow.factor=1.3')
    .option('--experiments <which>', 'auto, none, or kinds separated by commas', 'auto')
    .option('--replications <count>', 'play it so often in imagined time, and give every figure an interval')
    .option('--until-relative-error <share>', 'as many as it takes until intervals are within so much, such as 1%')
    .option('--workers <count>', 'threads for the replications', '1')
    .option('--out <folder>', 'where the record and the logs go (default: plimsoll-runs/<time>-<scenario>)')
    .option('--json', 'the result as JSON on standard output')
    .option('--quiet', 'no live progress')
    .action(async (scenario: string, options: object) => {
      const { run } = await import('./commands/run.ts');
      done(await run(scenario, options));
    });

  program
    .command('diagnose')
    .description(
      'read a record, or whatever an incident left behind (logs, metrics, configurations), and give a verdict',
    )
    .argument(
      '[path...]',
      'a record.jsonl, or files and folders that belong together; gzip and tar too; - is standard input',
    )
    .option('--prometheus <url>', 'ask this Prometheus for its metrics of the time as well')
    .option('--from <time>', 'when the time begins: 2026-03-04T14:00:00Z, an epoch, -90m (default: -1h)')
    .option('--to <time>', 'when it ends (default: now)')
    .option('--step <time>', 'time between two values (default: 240 of them)')
    .option('--json', 'the result as JSON on standard output')
    .option('--markdown', 'the result as a document about the incident')
    .option('--html', 'the result as one page with pictures, on standard output')
    .action(async (paths: string[], options: object) => {
      const { diagnoseFiles } = await import('./commands/diagnose.ts');
      done(await diagnoseFiles(paths, options));
    });

  compareCommand(program, done);

  theoryCommands(program, done);

  checkCommand(program, done);

  liveCommand(program, done);

  program
    .command('what-if')
    .description(
      'fit a fleet to a record (or take a scenario), change one thing at a time, and rank what helps; without a change, those that it leaves open',
    )
    .argument('<record>', "a record.jsonl, the folder of a run, or a scenario's name or path")
    .option('--policy <policy>', 'round-robin, random or least-request; several, here and below, with commas')
    .option('--call-timeout <time>', 'calls to dependencies give up after this')
    .option('--retry-budget <share>', 'retries of clients for each request at most, such as 10%')
    .option('--retries <count>', 'further tries of clients')
    .option('--back-off <time>', 'ceiling of their first wait')
    .option('--queue-limit <count>', 'requests that may wait in one replica')
    .option('--drop-abandoned', 'a replica drops what nobody waits for any more')
    .option('--timeout <time>', "the gateway's timeout")
    .option('--users <count>', 'closed users')
    .option('--think <time>', 'their think time')
    .option('--rate <per second>', 'open rate')
    .option('--replicas <count>', 'replicas of the service')
    .option('--workers <count>', 'workers of each replica')
    .option('--health-pool', 'health checks are answered without a worker')
    .option('--processor <times>', 'processors so many times as fast: 2 halves what requests need of them')
    .option('--service-time <factor>', 'service times multiplied, whatever they consist of')
    .option('--network-delay <time>', 'what each message takes, one way')
    .option('--network-loss <share>', 'messages that are lost and sent again, such as 1%')
    .option('--autoscale-max <count>', 'the most replicas that an autoscaler may have')
    .option('--set <path=value...>', 'change the scenario first, such as --set services.api.workers=8')
    .option('--anyway', 'predict with a fit that does not do what was seen')
    .option('--replications <count>', 'imagined runs of each alternative', '20')
    .option('--threads <count>', 'threads that play them', '1')
    .option('--seed <number>', 'seed of the first run', '1')
    .option('--json', 'the result as JSON on standard output')
    .option('--quiet', 'no progress')
    .action(async (subject: string, options: object) => {
      const { whatIfCommand } = await import('./commands/what-if.ts');
      done(await whatIfCommand(subject, options));
    });

  program
    .command('load-line')
    .description('how much a scenario may safely carry: one replica less, dependencies at their timeout, retries on')
    .argument('<subject>', "a scenario's name or path, or a record, to which a fleet is fitted")
    .option('--set <path=value...>', 'change the scenario first, such as --set services.api.replicas=6')
    .option('--threads <count>', 'threads that play the imagined runs', '1')
    .option('--seed <number>', 'seed of the first run', '1')
    .option('--json', 'the result as JSON on standard output')
    .option('--svg', 'a picture of it, as SVG on standard output')
    .option('--quiet', 'no progress')
    .action(async (subject: string, options: object) => {
      const { loadLineCommand } = await import('./commands/load-line.ts');
      done(await loadLineCommand(subject, options));
    });

  program
    .command('trace')
    .description('what happens in imagined time, event by event: which replica got what, and what it held then')
    .argument('<scenario>', "a scenario's name or path")
    .option('--from <time>', 'when the stretch begins, counted from the start of the run, warm-up included', '0s')
    .option('--for <time>', 'how long it is', '100ms')
    .option('--only <id>', 'only events that change this replica or dependency')
    .option('--seed <number>', 'seed of everything that is drawn', '1')
    .option('--set <path=value...>', 'change the scenario first')
    .option('--json', 'a JSON object a line')
    .action(async (scenario: string, options: object) => {
      const { trace } = await import('./commands/trace.ts');
      done(trace(scenario, options));
    });

  program
    .command('scenarios')
    .description('list the built-in scenarios, one line each')
    .option('--print <name>', 'print one of them as YAML, to start your own from')
    .action(async (options: object) => {
      const { scenarios } = await import('./commands/scenarios.ts');
      done(scenarios(options));
    });

  program
    .command('show')
    .description('show what a record holds, also one that was cut off')
    .argument('<record>', 'a record.jsonl or the folder of a run')
    .option('--json', 'as JSON on standard output')
    .option('--svg', 'a picture of what was in flight, as SVG on standard output')
    .option('--html', 'a page with pictures, the audit and all numbers, on standard output')
    .action(async (path: string, options: object) => {
      const { show } = await import('./commands/show.ts');
      done(await show(path, options));
    });

  loadCommand(program, done);

  program
    .command('selftest')
    .description('measure a server whose response times are known: measured beside true')
    .option('--engine <engine>', 'uring or node (default: each that there is)')
    .action(async (options: { readonly engine?: string }) => {
      const { runSelftest } = await import('./commands/selftest.ts');
      done(await runSelftest(options));
    });

  program
    .command('gateway')
    .description('balance: start our own gateway from a configuration file')
    .argument('<file>', 'configuration as JSON')
    .action(async (file: string) => {
      const { gateway } = await import('./commands/gateway.ts');
      done(await gateway(file));
    });

  program
    .command('why')
    .description('ask a gateway why a request went where it went, and what became of it')
    .argument('<request-id>', 'what the answer, or the access log, has as x-request-id')
    .option('--admin <url>', 'the gateway’s admin API', 'http://127.0.0.1:9090')
    .option('--json', 'the story as JSON')
    .action(async (id: string, options: WhyOptions) => {
      const { why } = await import('./commands/why.ts');
      done(await why(id, options));
    });

  // exitOverride is inherited only by commands made before it; say it for each.
  for (const command of program.commands) command.exitOverride();
  return program;
}
