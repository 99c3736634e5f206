// The flags of `plimsoll load`, by what they are about.

import type { Command } from 'commander';

export function loadCommand(program: Command, done: (code: number) => void): void {
  program
    .command('load')
    .description('put load on an address, in the manner of wrk2, and say who answered and where every request went')
    .argument('[url]', 'such as http://127.0.0.1:8080/path; may be left out where --from names it')
    .optionsGroup('How much is asked:')
    .option('-c, --connections <count>', 'connections; without a rate each is a closed user (default: 10)')
    .option('-d, --duration <time>', 'how long is measured (default: 10s, or until stages or a replay have ended)')
    .option('--warm-up <time>', 'load that is not judged, first (default: 0)')
    .option('--timeout <time>', 'how long a client waits for an answer (default: 2s)')
    .option('--retries <count>', 'a client asks again so often, after a failure or its timeout (default: 0)')
    .option('--retry-back-off <time>', 'ceiling of the first wait, which doubles and is drawn below it (default: 0)')
    .option('--retry-budget <share>', 'retries for each request at most, all clients together, such as 10%')
    .option('-R, --rate <per second>', 'open loop: so many requests a second, whatever the answers do')
    .option(
      '--stage <time:rate>',
      'the rate moves there in a straight line, such as 30s:2000; again for the next',
      oneMore,
    )
    .option('--arrivals <process>', 'constant or poisson (default: constant)')
    .option(
      '--think <time>',
      "closed loop: how long a user thinks after each answer, such as 2s or 'exponential 2s' (default: 0)",
    )
    .option('--seed <number>', 'seed of the arrivals')
    .optionsGroup('What is asked:')
    .option('-H, --header <line>', 'a header, such as "accept: text/html"; again for another', oneMore)
    .option('-m, --method <method>', 'request method (default: GET, with a body POST)')
    .option('-b, --body <text>', 'request body')
    .option('--body-file <file>', 'request body, from a file of text')
    .option(
      '--from <file>',
      'requests from curl commands, a HAR, targets of vegeta, an access log or an OpenAPI document (-: standard input)',
    )
    .option('--weight <operation=count>', 'OpenAPI: send an operation so many times as often; 0 leaves it out', oneMore)
    .option('--scenario <file>', 'the demand, the held connections and the objectives of a scenario')
    .option('--set <path=value>', 'change the scenario first; again for another', oneMore)
    .option('--replay', 'play the requests of --from again when they were')
    .option('--speed <factor>', 'play them so many times faster', '1')
    .optionsGroup('How it is asked:')
    .option('--http2', 'HTTP/2: agreed on by ALPN for https, known beforehand (h2c) for http')
    .option('--protocol <protocol>', 'h1, h2, h2c, or auto: what the server prefers (default: h1)')
    .option('--streams <count>', 'HTTP/2: requests under way at once on each connection (default: 1)')
    .option('-k, --insecure', 'https: take any certificate')
    .option('--ca <file>', "https: certificates, as PEM, of whoever has signed the server's")
    .optionsGroup('Connections that are held:')
    .option('--hold <count>', 'hold so many connections besides')
    .option('--hold-new <per second>', 'so many new ones a second, in place of the oldest held')
    .option('--hold-ramp <per second>', 'how fast they are opened at first (default: 2000)')
    .optionsGroup('By whom it is asked:')
    .option('-t, --threads <count>', 'generating threads', '1')
    .option('--engine <engine>', 'auto, uring or node', 'auto')
    .option('--on <machines>', 'from other machines: HOST:PORT,HOST:PORT of whoever runs --worker-listen')
    .option('--worker-listen <address>', 'lend --threads threads of this machine, at HOST:PORT, to whoever says --on')
    .option('--token <token>', 'what both must know (better in the environment variable PLIMSOLL_TOKEN)')
    .option('--anyway', 'start although this machine is short of something')
    .optionsGroup('What must hold:')
    .option(
      '--objective <threshold>',
      'such as "http_req_duration: p(95)<200"; again for another; exit code 99 when one is not met',
      oneMore,
    )
    .optionsGroup('What is told:')
    .option('--replica-header <name>', 'response header that says who answered', 'x-plimsoll-replica')
    .option('--replica-cookie <name>', 'cookie that says so instead, such as SERVERID')
    .option('-L, --latency', 'the detailed percentile spectrum')
    .option('-U, --u-latency', 'latency from the moment of sending as well')
    .option('--json', 'the result as JSON on standard output')
    .option('--json-file <file>', 'the result as JSON, besides')
    .option('--junit <file>', 'objectives as JUnit XML')
    .option('--record <file>', 'a record, for plimsoll show and diagnose')
    .option('--csv <file>', 'a table: a row a second for the load, and one for each replica')
    .option('--hgrm <file>', 'latencies as a percentile table of HdrHistogram')
    .option('--hlog <file>', 'latencies of each second as a log of HdrHistogram')
    .option('--otlp <url>', 'metrics to an OpenTelemetry collector each second, such as http://127.0.0.1:4318')
    .option('--otlp-header <line>', 'a header for the collector; again for another', oneMore)
    .option('--prometheus <address>', 'serve /metrics during the run, at a port or an address such as 0.0.0.0:9091')
    .option('--quiet', 'no talk')
    .action(async (url: string | undefined, options: object) => {
      const { load } = await import('./commands/load.ts');
      done(await load(url, options));
    });
}

/** A flag that may be given again. (Of those that take all words that follow, commander would take the address too.) */
const oneMore = (word: string, before: readonly string[] = []): readonly string[] => [...before, word];
