// The generator held against the truth: a server whose response times and stalls are scripted, on a thread of its own and on
// the same clock, writes down when each request came and when its answer left. The k-th request of a constant schedule was
// due at k ÷ rate, so what its client really waited is known to the microsecond; what the generator reports must be that.
//
//   truth       when the k-th answer left − when the k-th request was due
//   measured    the generator's own histogram, as it stands in every report
//
// Each quantile must agree within 1 % or 1 ms. A machine that does other work wakes us late, which a lag of the same size at the
// same quantile shows: then the machine was the limit, and that is the verdict. What was never answered is a lower bound on
// both sides. The spacing of arrivals, as the server saw it by its own readings of the clock, is told beside: a generator that sends
// its "constant" rate in bursts measures the burst.

import { Worker } from 'node:worker_threads';
import { assert, after, type Duration, formatDuration, type Instant, instantAt, ms, ns, seconds } from '../base.ts';
import { chooseEngine, type Engine, type EngineChoice } from '../net.ts';
import { Histogram, histogramOfFields } from '../stats.ts';
import type { LoadResult } from './contract.ts';
import { startLoad } from './run.ts';
import type { FromServer, ServerScript, ToServer } from './scripted-server.ts';

export interface SelftestCase {
  readonly name: string;
  /** What the server does, in words. */
  readonly about: string;
  readonly ratePerSecond: number;
  readonly connections: number;
  readonly duration: Duration;
  readonly usual: Duration;
  readonly rare?: Duration;
  readonly rareEvery?: number;
  /** Counted from the beginning of the load. Without `for` it lasts beyond the end. */
  readonly stall?: { readonly at: Duration; readonly for: Duration | undefined };
  /** Gaps between arrivals must not vary by more of their mean. */
  readonly spacingMax?: number;
}

export interface SelftestRow {
  readonly name: string;
  readonly engine: Engine['name'];
  readonly about: string;
  readonly ratePerSecond: number;
  readonly planned: number;
  readonly answered: number;
  /** The server's own count of requests that it got. */
  readonly received: number;
  readonly quantiles: readonly ComparedQuantile[];
  /** Standard deviation ÷ mean of the gaps between arrivals, as the server saw them: 0 for a clock, 1 for a Poisson process. */
  readonly spacing: number;
  /** How late the generator was in sending. */
  readonly lagP50: Duration | undefined;
  readonly lagP99: Duration | undefined;
  readonly limits: readonly string[];
  /** `limited`: something differs, and by no more than the generator itself was late, or it says that it was at a limit. */
  readonly verdict: 'ok' | 'off' | 'limited';
}

export interface ComparedQuantile {
  readonly name: 'p50' | 'p99' | 'p99.9' | 'max';
  readonly truth: Duration;
  readonly measured: Duration;
  /** The measured value is a lower bound, and so is the truth. */
  readonly atLeast: boolean;
  readonly within: boolean;
  /** How late the generator was in sending, at this quantile. */
  readonly lag: Duration;
}

const shapes: readonly Omit<SelftestCase, 'ratePerSecond'>[] = [
  {
    name: 'constant',
    about: 'every answer takes 5 ms',
    connections: 100,
    duration: seconds(3),
    usual: ms(5),
  },
  {
    name: 'bimodal',
    about: 'one answer in 20 takes 80 ms, the others 2 ms',
    connections: 100,
    duration: seconds(3),
    usual: ms(2),
    rare: ms(80),
    rareEvery: 20,
  },
  {
    name: 'pause',
    about: 'answers take 2 ms, and the server stands still for 1.4 s',
    connections: 100,
    duration: seconds(4),
    usual: ms(2),
    stall: { at: seconds(1), for: seconds(1.4) },
  },
  {
    name: 'outage at the end',
    about: 'answers take 2 ms, and the server falls silent 6 s before the end',
    connections: 100,
    duration: seconds(8),
    usual: ms(2),
    stall: { at: seconds(2), for: undefined },
  },
];

/** The case in which wrk2 sends bursts: every connection keeps its own time there, and the gaps vary by 2.47 of their mean. */
const spacingCase: SelftestCase = {
  name: 'spacing',
  about: 'answers take 1 ms; 100 connections',
  ratePerSecond: 2000,
  connections: 100,
  duration: seconds(5),
  usual: ms(1),
  spacingMax: 0.3,
};

const [slowly, fast] = [1000, 10_000].map((ratePerSecond) => shapes.map((shape) => ({ ...shape, ratePerSecond })));

export const selftestCases: readonly SelftestCase[] = [...(slowly ?? []), spacingCase, ...(fast ?? [])];

/** Not judged: in the first second of a program its compiler wants the processor too. */
const warmUp: SelftestCase = {
  name: 'warm-up',
  about: 'answers take 1 ms',
  ratePerSecond: 2000,
  connections: 100,
  duration: seconds(1),
  usual: ms(1),
};

/** Both ends need a file each. What comes in a stall beyond so many waits for a connection. */
const connectionsMax = 1000;

export interface SelftestOptions {
  readonly cases?: readonly SelftestCase[];
  /** Default `auto`. */
  readonly engine?: EngineChoice;
  /** Told after each case. */
  readonly onRow?: (row: SelftestRow) => void;
}

/** Runs every case, one after another. */
export async function selftest(options: SelftestOptions = {}): Promise<readonly SelftestRow[]> {
  const clockStart = process.hrtime.bigint();
  const server = new ServerThread(clockStart);
  const clock = (): Instant => instantAt(Number(process.hrtime.bigint() - clockStart));
  const chosen = chooseEngine(options.engine ?? 'auto', { waitsInRing: true, fineAlarms: true, clock });
  assert(!('impossible' in chosen), 'impossible' in chosen ? chosen.impossible : '');
  const { engine } = chosen;
  const rows: SelftestRow[] = [];
  try {
    if (options.cases === undefined) await play(warmUp, server, engine);
    for (const each of options.cases ?? selftestCases) {
      const row = await play(each, server, engine);
      options.onRow?.(row);
      rows.push(row);
    }
  } finally {
    await engine.close();
    await server.close();
  }
  return rows;
}

async function play(each: SelftestCase, server: ServerThread, engine: Engine): Promise<SelftestRow> {
  const port = await server.port;
  // The beginning is not known before the load begins: the script is given a moment ahead, and the load waits for it.
  const begin = after(engine.now(), ms(100));
  await server.play(scriptOf(each, begin));
  await until(engine, begin);
  const begun = engine.now();
  const run = startLoad(
    {
      seed: 1,
      groups: [
        {
          group: 'selftest',
          demand: {
            kind: 'open',
            clients: 'selftest',
            ratePerSecond: each.ratePerSecond,
            arrivals: 'constant',
            flow: [{ method: 'GET', path: '/', headers: {}, body: undefined }],
          },
          targets: [{ id: 'truth', host: '127.0.0.1', port }],
          choice: 'round-robin',
          timeout: seconds(60),
          connectionsMin: each.connections,
          connectionsMax,
        },
      ],
    },
    engine,
  );
  await until(engine, after(begun, each.duration));
  const outage = each.stall !== undefined && each.stall.for === undefined;
  const stoppedAt = engine.now();
  const result = await run.stop(outage ? ns(0) : seconds(2));
  const log = await server.log();
  return { ...compare(each, result, log, begun, stoppedAt), engine: engine.name };
}

function scriptOf(each: SelftestCase, begin: Instant): ServerScript {
  const { usual, rare, rareEvery, stall } = each;
  const stalls =
    stall === undefined
      ? []
      : [
          {
            from: after(begin, stall.at),
            until: stall.for === undefined ? instantAt(Infinity) : after(begin, ns(stall.at + stall.for)),
          },
        ];
  return {
    usual,
    stalls,
    ...(rare === undefined ? {} : { rare }),
    ...(rareEvery === undefined ? {} : { rareEvery }),
  };
}

function compare(
  each: SelftestCase,
  result: LoadResult,
  log: { readonly arrived: Float64Array; readonly answered: Float64Array },
  begun: Instant,
  stoppedAt: Instant,
): Omit<SelftestRow, 'engine'> {
  const ledger = result.ledgers[0];
  assert(ledger !== undefined, 'a run has a ledger for its group');
  const latency = measured(result, 'latency');
  const lag = measured(result, 'lag');
  const truths = truthsOf(log.answered, ledger.planned, each.ratePerSecond, begun, stoppedAt);
  const quantiles = (
    [
      ['p50', 0.5],
      ['p99', 0.99],
      ['p99.9', 0.999],
      ['max', 1],
    ] as const
  ).map(([name, q]): ComparedQuantile => {
    const found = latency.quantile(q) ?? { value: ns(0), atLeast: false };
    const truth = ns(truths[Math.max(0, Math.ceil(q * truths.length) - 1)] ?? 0);
    const within = Math.abs(found.value - truth) <= tolerance(truth);
    return { name, truth, measured: found.value, atLeast: found.atLeast, within, lag: lag.quantile(q)?.value ?? ns(0) };
  });
  const counted = log.arrived.length === ledger.planned - ledger.never_sent;
  // What a stall holds back comes all at once, and says nothing of how it was sent.
  const stallAt = each.stall === undefined ? Infinity : begun + each.stall.at;
  const spacing = variation(log.arrived.filter((at) => at < stallAt));
  const agrees = counted && quantiles.every(({ within }) => within) && spacing <= (each.spacingMax ?? Infinity);
  return {
    name: each.name,
    about: each.about,
    ratePerSecond: each.ratePerSecond,
    planned: ledger.planned,
    answered: ledger.answered,
    received: log.arrived.length,
    quantiles,
    spacing,
    lagP50: lag.quantile(0.5)?.value,
    lagP99: lag.quantile(0.99)?.value,
    limits: result.limits,
    verdict: agrees
      ? 'ok'
      : counted && (result.limits.length > 0 || quantiles.every(isOfTheMachine))
        ? 'limited'
        : 'off',
  };
}

const tolerance = (truth: Duration): number => Math.max(ms(1), 0.01 * truth);

/** We are woken as late to read as we are to send. */
const isOfTheMachine = ({ truth, measured: found, lag }: ComparedQuantile): boolean =>
  Math.abs(found - truth) <= tolerance(truth) + lag;

/** What each planned request really waited, in rising order: until its answer left, or until we stopped looking. Arrivals come
 * in the order of the schedule but for a few that overtake each other by microseconds. */
function truthsOf(
  answered: Float64Array,
  planned: number,
  rate: number,
  begun: Instant,
  stoppedAt: Instant,
): Float64Array {
  const truths = new Float64Array(planned);
  for (let index = 0; index < planned; index++) {
    const due = begun + (index / rate) * 1e9;
    const left = answered[index] ?? Number.NaN;
    truths[index] = (Number.isNaN(left) ? stoppedAt : left) - due;
  }
  return truths.toSorted();
}

function measured(result: LoadResult, what: 'latency' | 'lag'): Histogram {
  const line = result.histograms.find(({ of }) => of.group === 'selftest' && of.what === what);
  const histogram = line === undefined ? new Histogram() : histogramOfFields(line);
  assert(histogram instanceof Histogram, 'a run reports whole histograms');
  return histogram;
}

function variation(arrived: Float64Array): number {
  const gaps = Array.from(arrived.subarray(1), (at, index) => at - (arrived[index] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  return Math.sqrt(variance) / mean;
}

/** The rows as a table: measured beside true. */
export function selftestText(rows: readonly SelftestRow[]): string {
  return rows
    .map((row) => {
      const head = `${row.verdict.padEnd(7)} ${row.name} at ${row.ratePerSecond}/s on ${row.engine}: ${row.about}`;
      const each = row.quantiles.map(({ name, truth, measured: found, atLeast, within, lag: late }) => {
        const shown = `${atLeast ? '≥ ' : ''}${formatDuration(found)}`;
        return `       ${name.padEnd(6)} true ${formatDuration(truth).padStart(9)}   measured ${shown.padStart(11)}${within ? '' : `   differs; our own lag there: ${formatDuration(late)}`}`;
      });
      const counts = `       ${row.planned} planned, ${row.received} seen by the server, ${row.answered} answered`;
      const lag =
        row.lagP50 === undefined || row.lagP99 === undefined
          ? ''
          : `; lag p50 ${formatDuration(row.lagP50)}, p99 ${formatDuration(row.lagP99)}`;
      const spacing = `       gaps between arrivals vary by ${row.spacing.toFixed(2)} of their mean${lag}`;
      return [head, ...each, counts, spacing, ...row.limits.map((limit) => `       ${limit}`)].join('\n');
    })
    .join('\n\n');
}

const until = (engine: Engine, at: Instant): Promise<void> =>
  new Promise((resolve) => {
    engine.alarm(at, () => resolve());
  });

class ServerThread {
  readonly port: Promise<number>;
  readonly #worker: Worker;
  #told: (message: FromServer) => void = () => {};

  constructor(clockStart: bigint) {
    this.#worker = new Worker(new URL('scripted-server.ts', import.meta.url), { workerData: { clockStart } });
    this.#worker.on('message', (message: FromServer) => this.#told(message));
    this.port = this.#next('listening').then((message) => message.port);
  }

  async play(script: ServerScript): Promise<void> {
    this.#tell({ kind: 'play', script });
    await this.#next('playing');
  }

  async log(): Promise<{ readonly arrived: Float64Array; readonly answered: Float64Array }> {
    this.#tell({ kind: 'tell' });
    return this.#next('log');
  }

  async close(): Promise<void> {
    this.#tell({ kind: 'close' });
    await this.#worker.terminate();
  }

  #tell(message: ToServer): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(message);
  }

  #next<Kind extends FromServer['kind']>(kind: Kind): Promise<Extract<FromServer, { kind: Kind }>> {
    return new Promise((resolve, reject) => {
      this.#worker.once('error', reject);
      this.#told = (message) => {
        if (isKind(message, kind)) {
          this.#worker.off('error', reject);
          resolve(message);
        }
      };
    });
  }
}

const isKind = <Kind extends FromServer['kind']>(
  message: FromServer,
  kind: Kind,
): message is Extract<FromServer, { kind: Kind }> => message.kind === kind;
