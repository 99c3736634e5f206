// `plimsoll load URL`: load on one address with the flags that users of wrk, wrk2 and hey know. With a rate the demand is open
// (that many requests a second, whatever the answers do); without one it is closed, each connection asking as soon as it
// has its answer, and the report says that such latencies are lower bounds.

import { z } from 'zod';
import { type Duration, ms, parseDuration, seconds } from '../../base.ts';
import { chanceSeed } from '../../host.ts';
import {
  type GroupSnapshot,
  type LoadPlan,
  type LoadRun,
  type LoadSnapshot,
  machineLimits,
  preflight,
  startCrew,
  startLoad,
  summaryOf,
} from '../../load.ts';
import { type Engine, nodeEngine } from '../../net.ts';
import { loadText } from '../../report.ts';
import type { Demand, Step } from '../../scenario.ts';
import { exit, type ExitCode, UsageError } from '../exit.ts';
import { paintFor } from '../terminal.ts';

const flags = z.object({
  connections: z.string(),
  duration: z.string(),
  threads: z.string(),
  rate: z.string().optional(),
  arrivals: z.enum(['constant', 'poisson']),
  header: z.array(z.string()).optional(),
  method: z.string(),
  body: z.string().optional(),
  timeout: z.string(),
  warmUp: z.string(),
  latency: z.boolean().optional(),
  uLatency: z.boolean().optional(),
  replicaHeader: z.string(),
  seed: z.string().optional(),
  json: z.boolean().optional(),
  quiet: z.boolean().optional(),
});

export async function load(address: string, options: object): Promise<ExitCode> {
  const parsed = flags.safeParse(options);
  if (!parsed.success) {
    throw new UsageError(parsed.error.issues.map((issue) => `--${issue.path.join('.')}: ${issue.message}`).join('\n'));
  }
  const given = parsed.data;
  const url = parseUrl(address);
  const connections = parseCount('--connections', given.connections);
  const workers = parseCount('--threads', given.threads);
  const duration = parseTime('--duration', given.duration);
  const warmUp = given.warmUp === '0' ? seconds(0) : parseTime('--warm-up', given.warmUp);
  const rate = given.rate === undefined ? undefined : parseRate(given.rate);
  if (connections < workers) {
    throw new UsageError(
      `--connections ${connections} is less than --threads ${workers}: each thread needs a connection of its own`,
    );
  }
  const step: Step = {
    method: given.method.toUpperCase(),
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...parseHeaders(given.header ?? []) },
    body: given.body,
  };
  const demand: Demand =
    rate === undefined
      ? { kind: 'closed', clients: 'load', users: connections, think: seconds(0), flow: [step] }
      : { kind: 'open', clients: 'load', ratePerSecond: rate, arrivals: given.arrivals, flow: [step] };
  const plan: LoadPlan = {
    seed: given.seed === undefined ? chanceSeed() : parseCount('--seed', given.seed),
    groups: [
      {
        group: 'load',
        demand,
        targets: [
          {
            id: url.host,
            host: url.hostname.replaceAll(/^\[|\]$/g, ''),
            port: url.port === '' ? 80 : Number(url.port),
          },
        ],
        choice: 'pick-first',
        timeout: parseTime('--timeout', given.timeout),
        replicaHeader: given.replicaHeader.toLowerCase(),
        connectionsMax: connections,
        connectionsMin: connections,
      },
    ],
  };
  const shortages = preflight(plan, machineLimits());
  for (const shortage of shortages) process.stderr.write(`before the run: ${shortage.message}\n`);
  if (shortages.some((shortage) => shortage.when === 'sure')) return exit.usage;

  const shape = rate === undefined ? 'closed loop' : `open loop at ${rate}/s, ${given.arrivals}`;
  const talk = given.quiet === true ? () => {} : (text: string) => process.stderr.write(`${text}\n`);
  talk(`Running ${given.duration} test @ ${address}\n  ${workers} threads and ${connections} connections, ${shape}`);
  const engine = workers === 1 ? nodeEngine() : undefined;
  const running = engine === undefined ? await startCrew(plan, { workers }) : startLoad(plan, engine);
  const { result, cuts, interrupted } = await measure(running, engine, { warmUp, duration }, talk);
  const summary = summaryOf(result, cuts);
  if (given.json === true) {
    process.stdout.write(
      `${JSON.stringify({ schema: 'plimsoll.dev/load/v1', url: address, model: demand.kind, ...summary }, undefined, 2)}\n`,
    );
  } else {
    const lines = loadText(
      summary,
      { spectrum: given.latency === true, uncorrected: given.uLatency === true },
      paintFor(process.stdout),
    );
    process.stdout.write(`${lines.join('\n')}\n`);
    if (rate === undefined) {
      process.stdout.write(
        'closed loop: when the service stalls nobody asks, so these latencies are lower bounds; --rate asks regardless\n',
      );
    }
  }
  return interrupted ? exit.interrupted : exit.ok;
}

interface Cut {
  readonly span: Duration;
  readonly snapshot: GroupSnapshot;
}

/** Warm-up, then one snapshot a second until the time is over or somebody interrupts. */
async function measure(
  running: LoadRun,
  engine: Engine | undefined,
  times: { readonly warmUp: Duration; readonly duration: Duration },
  talk: (text: string) => void,
): Promise<{ result: Awaited<ReturnType<LoadRun['stop']>>; cuts: Cut[]; interrupted: boolean }> {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(exit.interrupted);
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  const cuts: Cut[] = [];
  try {
    // Without a warm-up everything counts from the first request on, and both sides count the same.
    if (times.warmUp > 0) {
      await pause(times.warmUp / 1e6, controller.signal);
      running.measure();
      running.snapshot();
    }
    const end = performance.now() + times.duration / 1e6;
    while (performance.now() < end - 1 && !controller.signal.aborted) {
      await pause(Math.min(1000, end - performance.now()), controller.signal);
      const snapshot = running.snapshot();
      const [group] = snapshot.groups;
      if (group === undefined) break;
      cuts.push({ span: snapshot.span, snapshot: group });
      if (cuts.length % 5 === 0) talk(progressOf(snapshot, group));
    }
    const result = await running.stop(controller.signal.aborted ? seconds(0) : ms(500));
    return { result, cuts, interrupted: controller.signal.aborted };
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    await engine?.close();
  }
}

function progressOf(snapshot: LoadSnapshot, group: GroupSnapshot): string {
  const errors = Object.entries(group.errors).map(([kind, times]) => `${times} ${kind}`);
  const wrong = errors.length === 0 ? '' : `, ${errors.join(', ')}`;
  return `  ${(group.answered / (snapshot.span / 1e9)).toFixed(0)} answers/s, ${group.inFlightMean.toFixed(0)} in flight${wrong}`;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(0, milliseconds));
    signal.addEventListener('abort', done);
  });
}

function parseUrl(address: string): URL {
  const url = URL.parse(address);
  if (url === null) throw new UsageError(`"${address}" is no URL; expected one such as http://127.0.0.1:8080/path`);
  if (url.protocol !== 'http:') {
    throw new UsageError(
      `${address}: ${url.protocol.slice(0, -1)} is not supported by this command yet; expected http`,
    );
  }
  return url;
}

/** `10`, `2k`, `1M`. */
function parseCount(flag: string, text: string): number {
  const found = /^(\d+(?:\.\d+)?)([kKmM]?)$/.exec(text);
  const unit = { '': 1, k: 1e3, m: 1e6 }[(found?.[2] ?? '').toLowerCase()] ?? 1;
  const value = found === null ? Number.NaN : Number(found[1]) * unit;
  if (!Number.isInteger(value) || value < 1)
    throw new UsageError(`${flag}: found "${text}", expected a whole number such as 64 or 2k`);
  return value;
}

function parseRate(text: string): number {
  const value = Number(text.replace(/\/s$/, '').replace(/k$/i, 'e3'));
  if (!(value > 0))
    throw new UsageError(`--rate: found "${text}", expected requests a second such as 500, 2k or 250/s`);
  return value;
}

function parseTime(flag: string, text: string): Duration {
  // wrk takes a bare number for seconds.
  const found = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (found === undefined || found <= 0)
    throw new UsageError(`${flag}: found "${text}", expected a duration such as 30s, 500ms or 2m`);
  return found;
}

function parseHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new UsageError(`--header: found "${line}", expected "name: value"`);
    headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  return headers;
}
