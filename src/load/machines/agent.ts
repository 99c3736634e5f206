// A machine that lends itself to load plans of others: it listens, lets in whoever knows the token, and drives the share of a plan
// that it is told, on a thread for each connection. What the thread counts is passed on as it comes; who says begin, measure and
// stop is the coordinator, whose clock is asked for by exchanges (see `clock-offset.ts`) that also show that both are alive.
//
//   connection ─► greeting ─► clock … ─► setting ─► begin, measure, stop ─► end
//
// Without its coordinator a share of a load is only a nuisance: a connection that ends, or falls silent, ends the thread.

import net from 'node:net';
import type { EngineChoice } from '../../net.ts';
import type { LoadPlan } from '../contract.ts';
import { type Hand, newHand } from '../hand.ts';
import type { Share } from '../share.ts';
import type { ToWorker } from '../worker.ts';
import { type Greeting, greetingOf, newNonce, proofOf, protocol, proves } from './greeting.ts';
import { field, Lines } from './lines.ts';

export interface AgentOptions {
  readonly host: string;
  /** 0: the kernel chooses. */
  readonly port: number;
  readonly token: string;
  readonly version: string;
  /** Threads that may drive at once; whoever comes then is refused. */
  readonly workers: number;
  /** Told of who comes and goes, in words. */
  readonly talk?: (text: string) => void;
}

export interface Agent {
  readonly port: number;
  /** Ends every share that is being driven, and listens no more. */
  close(): Promise<void>;
}

/** A coordinator that says nothing for so long is gone. It says something twice a second. */
const silenceMaxMs = 5_000;
/** To say who he is. */
const greetingMaxMs = 5_000;

/** Rejects with the system's error when it cannot listen. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const guests = new Set<Guest>();
  const server = net.createServer((socket) => {
    const guest: Guest = new Guest(socket, options, () => {
      if (guests.size >= options.workers) return false;
      guests.add(guest);
      return true;
    });
    socket.once('close', () => {
      guests.delete(guest);
      void guest.leave();
    });
  });
  // As many may be about to say who they are.
  server.maxConnections = 2 * options.workers + 16;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port }, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([...guests].map((guest) => guest.leave()));
      await closed;
    },
  };
}

/** One coordinator's connection, and what it has us do. */
class Guest {
  readonly #lines: Lines;
  readonly #options: AgentOptions;
  readonly #enter: () => boolean;
  readonly #name: string;
  readonly #nonce = newNonce();
  #isFriend = false;
  #hand: Hand | undefined;
  #silence: NodeJS.Timeout;
  #gone = false;

  constructor(socket: net.Socket, options: AgentOptions, enter: () => boolean) {
    this.#options = options;
    this.#enter = enter;
    this.#name = `${socket.remoteAddress}:${socket.remotePort}`;
    this.#lines = new Lines(socket, {
      onMessage: (message) => this.#hear(message),
      onEnd: (why) => {
        if (this.#isFriend) this.#options.talk?.(`${this.#name}: ${why}`);
        void this.leave();
      },
    });
    this.#silence = this.#awaitWord(greetingMaxMs);
    const { version } = options;
    this.#lines.send({ greeting: 'plimsoll agent', protocol, version, nonce: this.#nonce } satisfies Greeting);
  }

  /** Ends what it had us do. */
  async leave(): Promise<void> {
    if (this.#gone) return;
    this.#gone = true;
    clearTimeout(this.#silence);
    this.#lines.close();
    await this.#hand?.end();
  }

  #hear(message: unknown): void {
    clearTimeout(this.#silence);
    this.#silence = this.#awaitWord(silenceMaxMs);
    if (!this.#isFriend) return this.#greet(message);
    switch (field(message, 'kind')) {
      case 'clock': {
        const heard = process.hrtime.bigint();
        const told = process.hrtime.bigint();
        return this.#lines.send({ kind: 'clock', sent: field(message, 'sent'), heard: `${heard}`, told: `${told}` });
      }
      case 'setting':
        return this.#drive(message);
      default:
        return this.#pass(message);
    }
  }

  #greet(message: unknown): void {
    const { token, version, workers, talk } = this.#options;
    const greeting = greetingOf(message, 'plimsoll coordinator', version);
    if ('problem' in greeting) return this.#refuse(greeting.problem);
    const nonces = { agent: this.#nonce, coordinator: greeting.nonce };
    if (!proves(greeting.proof, 'coordinator', token, nonces)) return this.#refuse('the token is another one');
    if (!this.#enter()) return this.#refuse(`all of its ${workers} threads are taken`);
    this.#isFriend = true;
    this.#lines.trust();
    talk?.(`${this.#name}: a coordinator`);
    return this.#lines.send({ welcome: true, proof: proofOf('agent', token, nonces), workers });
  }

  #refuse(why: string): void {
    this.#options.talk?.(`${this.#name}: refused, ${why}`);
    this.#lines.send({ refused: why });
    void this.leave();
  }

  #drive(message: unknown): void {
    if (this.#hand !== undefined || !isSettingMessage(message)) return this.#refuse('a setting that is none');
    const { plan, share, clockStart, engine, round } = message.setting;
    this.#hand = newHand(
      'thread',
      { plan, share, clockStart: BigInt(clockStart), engine, round },
      {
        onMessage: (told) => this.#lines.send(told),
        onLoss: (why) => this.#lines.send({ kind: 'lost', why }),
      },
    );
    return undefined;
  }

  #pass(message: unknown): void {
    if (isToWorker(message)) this.#hand?.tell(message);
  }

  #awaitWord(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.#isFriend) this.#options.talk?.(`${this.#name}: silent for ${milliseconds / 1000} s`);
      void this.leave();
    }, milliseconds);
  }
}

/** What a coordinator that knows the token, of this very version, sends as a setting. */
export interface SettingMessage {
  readonly kind: 'setting';
  readonly setting: {
    readonly plan: LoadPlan;
    readonly share: Share;
    /** The reading of the agent's clock that is instant 0. */
    readonly clockStart: string;
    readonly engine: EngineChoice;
    /** Nanoseconds between two cuts. */
    readonly round: Parameters<typeof newHand>[1]['round'];
  };
}

const isSettingMessage = (message: unknown): message is SettingMessage => {
  const setting = field(message, 'setting');
  return /^-?\d+$/.test(String(field(setting, 'clockStart'))) && field(setting, 'plan') !== undefined;
};

const isToWorker = (message: unknown): message is ToWorker =>
  ['begin', 'measure', 'stop'].includes(String(field(message, 'kind')));
