// The coordinator's end: other machines' threads as hands of a crew. To the crew they are workers like its own; what differs is
// that their clock has another zero, which is measured, and that they can fall silent without ending.

import net from 'node:net';
import { type Duration, formatDuration, ns, seconds } from '../../base.ts';
import type { Hand, HandEvents } from '../hand.ts';
import type { FromWorker, ToWorker, WorkerSetting } from '../worker.ts';
import type { SettingMessage } from './agent.ts';
import { type ClockOffset, clockOffset, type Exchange } from './clock-offset.ts';
import { type Greeting, greetingOf, newNonce, proofOf, protocol, proves } from './greeting.ts';
import { field, Lines } from './lines.ts';

export interface MachinePlace {
  readonly host: string;
  readonly port: number;
}

export interface ReachOptions {
  readonly token: string;
  readonly version: string;
  /** A machine that says nothing for so long is lost. Default 3 s; each sends something ten times a second. */
  readonly silenceMax?: Duration;
}

/** A thread of another machine that is ready to be told its share. */
export interface RemoteThread {
  readonly machine: string;
  readonly clock: ClockOffset;
  /** Lets it go without having used it. */
  close(): void;
  /** Once. */
  hand(setting: WorkerSetting, events: HandEvents): Hand;
}

export interface Reached {
  readonly threads: readonly RemoteThread[];
  /** What stands in the way, in sentences that name the machine; with one of them no thread is to be used. */
  readonly problems: readonly string[];
}

const connectMaxMs = 5_000;
const exchangesFirst = 16;
/** Between two exchanges while it works. */
const aliveEveryMs = 500;
const silenceMaxDefault = seconds(3);
/** Exchanges from which the offset at the end is told. */
const exchangesKept = 20;
/** A clock that has moved by more makes the seconds of the machines different ones. */
const driftMax = ns(10_000_000);

/** All threads of all machines. Closes what it has opened when there is a problem. */
export async function reachMachines(places: readonly MachinePlace[], options: ReachOptions): Promise<Reached> {
  const found = await Promise.all(places.map((place) => reachMachine(place, options)));
  const threads = found.flatMap((each) => ('problem' in each ? [] : each.threads));
  const problems = found.flatMap((each) => ('problem' in each ? [each.problem] : []));
  if (problems.length > 0) for (const thread of threads) thread.close();
  return { threads, problems };
}

async function reachMachine(
  place: MachinePlace,
  options: ReachOptions,
): Promise<{ readonly threads: readonly Thread[] } | { readonly problem: string }> {
  const first = new Thread(place, options);
  const opened = [first];
  try {
    const workers = await first.reach();
    const more = Array.from({ length: workers - 1 }, () => new Thread(place, options));
    opened.push(...more);
    await Promise.all(more.map((thread) => thread.reach()));
    return { threads: opened };
  } catch (error) {
    for (const thread of opened) thread.close();
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `${nameOf(place)}: ${why}` };
  }
}

class Thread implements RemoteThread {
  readonly machine: string;
  clock: ClockOffset = { offset: 0n, bound: ns(0) };
  readonly #options: ReachOptions;
  readonly #lines: Lines;
  /** What the next message is for, until there is a hand. */
  #awaited: (message: unknown) => void = () => {};
  #ended: (why: string) => void = () => {};

  constructor(place: MachinePlace, options: ReachOptions) {
    this.machine = nameOf(place);
    this.#options = options;
    this.#lines = new Lines(net.connect({ host: place.host, port: place.port }), {
      onMessage: (message) => this.#awaited(message),
      onEnd: (why) => this.#ended(why),
    });
  }

  /** Greets, measures the clock, and says how many threads the machine has. Throws what stands in the way. */
  async reach(): Promise<number> {
    const workers = await this.#greet();
    const exchanges: Exchange[] = [];
    for (let count = 0; count < exchangesFirst; count++) {
      this.#lines.send(clockQuestion());
      const exchange = exchangeOf(await this.#next());
      if (exchange === undefined) throw new Error(noClock);
      exchanges.push(exchange);
    }
    this.clock = clockOffset(exchanges);
    return workers;
  }

  hand(setting: WorkerSetting, events: HandEvents): Hand {
    const silenceMax = this.#options.silenceMax ?? silenceMaxDefault;
    const hand = new RemoteHand(this.#lines, { thread: this, silenceMax }, setting, events);
    this.#awaited = (message) => hand.hear(message);
    this.#ended = (why) => hand.lose(why);
    return hand;
  }

  close(): void {
    this.#lines.close();
  }

  async #greet(): Promise<number> {
    const { token, version } = this.#options;
    const greeting = greetingOf(await this.#next(), 'plimsoll agent', version);
    if ('problem' in greeting) throw new Error(greeting.problem);
    const nonces = { agent: greeting.nonce, coordinator: newNonce() };
    const proof = proofOf('coordinator', token, nonces);
    const ours = { greeting: 'plimsoll coordinator', protocol, version, nonce: nonces.coordinator, proof } as const;
    this.#lines.send(ours satisfies Greeting);
    const answer = await this.#next();
    const refused = field(answer, 'refused');
    if (typeof refused === 'string') throw new Error(`it refuses: ${refused}`);
    if (!proves(field(answer, 'proof'), 'agent', token, nonces)) throw new Error('it does not know the token');
    this.#lines.trust();
    return Math.max(1, Number(field(answer, 'workers')));
  }

  #next(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no word within ${connectMaxMs / 1000} s`)), connectMaxMs);
      this.#awaited = (message) => {
        clearTimeout(late);
        resolve(message);
      };
      this.#ended = (why) => {
        clearTimeout(late);
        reject(new Error(why));
      };
    });
  }
}

class RemoteHand implements Hand {
  readonly #lines: Lines;
  readonly #thread: Thread;
  readonly #silenceMax: Duration;
  readonly #events: HandEvents;
  readonly #recent: Exchange[] = [];
  readonly #beat: NodeJS.Timeout;
  #heardAt = performance.now();

  constructor(
    lines: Lines,
    { thread, silenceMax }: { readonly thread: Thread; readonly silenceMax: Duration },
    setting: WorkerSetting,
    events: HandEvents,
  ) {
    this.#lines = lines;
    this.#thread = thread;
    this.#silenceMax = silenceMax;
    this.#events = events;
    const { plan, share, clockStart, engine, round } = setting;
    const theirStart = String(clockStart + thread.clock.offset);
    const message = { kind: 'setting', setting: { plan, share, clockStart: theirStart, engine, round } } as const;
    this.#lines.send(message satisfies SettingMessage);
    this.#beat = setInterval(() => this.#look(), Math.min(aliveEveryMs, silenceMax / 4e6));
  }

  tell(message: ToWorker): void {
    this.#lines.send(message);
  }

  end(): Promise<void> {
    clearInterval(this.#beat);
    this.#lines.close();
    return Promise.resolve();
  }

  hear(message: unknown): void {
    this.#heardAt = performance.now();
    switch (field(message, 'kind')) {
      case 'clock':
        return this.#note(exchangeOf(message));
      case 'lost':
        return this.lose(String(field(message, 'why')));
      default:
        if (isFromWorker(message)) this.#events.onMessage(this.#withDrift(message));
    }
  }

  lose(why: string): void {
    clearInterval(this.#beat);
    this.#lines.close();
    this.#events.onLoss(why);
  }

  #note(exchange: Exchange | undefined): void {
    if (exchange === undefined) return this.lose(noClock);
    this.#recent.push(exchange);
    if (this.#recent.length > exchangesKept) this.#recent.shift();
    return undefined;
  }

  #look(): void {
    if (performance.now() - this.#heardAt > this.#silenceMax / 1e6)
      this.lose(`silent for ${formatDuration(this.#silenceMax)}`);
    else this.#lines.send(clockQuestion());
  }

  /** A clock that moved against ours is one of the machine's limits. */
  #withDrift(message: FromWorker): FromWorker {
    if (message.kind !== 'end' || this.#recent.length === 0) return message;
    const before = this.#thread.clock;
    const now = clockOffset(this.#recent);
    const moved = Math.abs(Number(now.offset - before.offset)) - before.bound - now.bound;
    if (moved <= driftMax) return message;
    const limit = `the clock of ${this.#thread.machine} moved by ${formatDuration(ns(moved))} against ours`;
    return { ...message, end: { ...message.end, limits: [...message.end.limits, limit] } };
  }
}

/** A sentence for each machine: how many threads it lends, and how well its clock is known. */
export function machinesTold(threads: readonly RemoteThread[]): readonly string[] {
  return Array.from(
    Map.groupBy(threads, ({ machine }) => machine),
    ([machine, its]) => {
      const bounds = its.map(({ clock }): number => clock.bound);
      const known = formatDuration(ns(Math.max(...bounds)));
      return `${machine}: ${its.length} thread${its.length === 1 ? '' : 's'}, clock known to ± ${known}`;
    },
  );
}

const nameOf = ({ host, port }: MachinePlace): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

const clockQuestion = (): object => ({ kind: 'clock', sent: String(process.hrtime.bigint()) });

const noClock = 'an answer about its clock that is none';

function exchangeOf(message: unknown): Exchange | undefined {
  const back = process.hrtime.bigint();
  const [sent, heard, told] = ['sent', 'heard', 'told'].map((name) => {
    const text = String(field(message, name));
    return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
  });
  return sent === undefined || heard === undefined || told === undefined ? undefined : { sent, heard, told, back };
}

const isFromWorker = (message: unknown): message is FromWorker =>
  ['ready', 'cut', 'end'].includes(String(field(message, 'kind')));
