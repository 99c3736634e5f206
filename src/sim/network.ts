// What lies between processes: each message takes a while, one way, and some are lost. TCP sends a lost one again, so a loss
// is never an error here; it is a wait.
//
//   send ──► lost? ──no──► one-way delay ──► delivered
//             ▲ │
//             │ └─yes─► retransmission timeout, then twice that, four times, … ─┐
//             └─────────────────────────────────────────────────────────────────┘
//
// The first timeout is 200 ms and a round trip (Linux: the smoothed round trip, and at least TCP_RTO_MIN for its variance;
// RFC 6298). So losses show as a bump at 200 ms in the latencies, and a smaller one at 600 ms. A new connection takes a round
// trip first, and what is lost of that is sent again after 1 s, 3 s, 7 s (RFC 6298, section 2.1). A partition loses everything
// for as long as it lasts; whoever was cut off is heard when a retransmission falls behind its end.
//
// What is not here: bandwidth and windows. A message is one segment, and a lost one delays nobody but itself.
//
// Chance: every message draws its delay, when it is sent, and its losses from two streams of its sender's name. So losses shift
// no delays, and a network shifts nobody else's draws.

import { assert, DiceBank, unreachable } from '../base.ts';
import { distributionMean, type Network as NetworkSettings, type NetworkFaultKind, sampler } from '../scenario.ts';

/** What Linux takes the variance of a round trip to be, at least. */
const retransmissionMin = 200e6;
/** The first timeout of a connection that is being opened. */
const openingTimeout = 1e9;
/** A timeout doubles up to this: TCP_RTO_MAX in Linux. */
const timeoutMax = 120e9;

/** Where messages leave from and arrive. */
export interface End {
  readonly zone: string | undefined;
  /** What a partition may call it: its zone, its service, the replica, the client group, `gateway`. */
  readonly names: ReadonlySet<string>;
  /** Streams of chance. */
  readonly delays: number;
  readonly losses: number;
  /** By a fault of its link: time for each message, and a chance that it is lost. */
  added: number;
  loss: number;
}

export interface NetworkDuties {
  readonly seed: number;
  /** `pass` wants to be called for this message then. */
  schedule(at: number, message: number): void;
  /** A message has arrived. `kind`, `subject` and `generation` are its sender's own words. */
  deliver(kind: number, subject: number, generation: number, now: number): void;
}

interface Message {
  kind: number;
  subject: number;
  generation: number;
  from: End;
  to: End;
  /** What its next event means. */
  next: 'opened' | 'arrives' | 'open again' | 'send again';
  /** What it takes once it is not lost. */
  delay: number;
  /** How often it has been lost. */
  lost: number;
}

export class Network {
  readonly #settings: NetworkSettings;
  readonly #duties: NetworkDuties;
  readonly #bank = new DiceBank();
  readonly #near: () => number;
  readonly #far: () => number;
  readonly #nearMean: number;
  readonly #farMean: number;
  readonly #partitions = new Set<{ readonly of: string; readonly from: string | undefined }>();
  /** Those under way and those that may be used again. */
  readonly #messages: Message[] = [];
  readonly #freed: number[] = [];

  constructor(settings: NetworkSettings, duties: NetworkDuties) {
    const { delay, betweenZones = delay } = settings;
    this.#settings = settings;
    this.#duties = duties;
    this.#near = sampler(delay, this.#bank.dice);
    this.#far = sampler(betweenZones, this.#bank.dice);
    this.#nearMean = distributionMean(delay);
    this.#farMean = distributionMean(betweenZones);
  }

  /** Somewhere that messages leave from: `name` is that of its streams of chance, and of no other end. */
  end(name: string, zone: string | undefined, names: readonly string[]): End {
    const { seed } = this.#duties;
    return {
      zone,
      names: new Set(zone === undefined ? names : [...names, zone]),
      delays: this.#bank.add(seed, `network/${name}/delay`),
      losses: this.#bank.add(seed, `network/${name}/loss`),
      added: 0,
      loss: 0,
    };
  }

  /** Sends on a connection that is there, not to arrive before `earliest`. */
  send(kind: number, subject: number, generation: number, from: End, to: End, now: number, earliest = now): void {
    const message = this.#newMessage(kind, subject, generation, from, to);
    this.#transmit(message, now, earliest);
  }

  /** Sends on a connection that is opened for it. */
  open(kind: number, subject: number, generation: number, from: End, to: End, now: number): void {
    this.#transmitOpening(this.#newMessage(kind, subject, generation, from, to), now);
  }

  /** The event of a message has come. */
  pass(index: number, now: number): void {
    const message = this.#message(index);
    switch (message.next) {
      case 'open again':
        this.#transmitOpening(index, now);
        return;
      case 'opened':
        message.lost = 0;
        this.#transmit(index, now, now);
        return;
      case 'send again':
        this.#transmit(index, now, now);
        return;
      case 'arrives':
        this.#freed.push(index);
        this.#duties.deliver(message.kind, message.subject, message.generation, now);
        return;
      default:
        unreachable(message.next, 'an event of a message that means nothing');
    }
  }

  #transmit(index: number, now: number, earliest: number): void {
    const message = this.#message(index);
    if (this.#isLost(message)) {
      const { from, to } = message;
      const oneWay = (isFar(from, to) ? this.#farMean : this.#nearMean) + from.added + to.added;
      this.#again(index, 'send again', retransmissionMin + 2 * oneWay, now);
      return;
    }
    message.next = 'arrives';
    this.#duties.schedule(Math.max(earliest, now + message.delay + message.from.added + message.to.added), index);
  }

  /** A message there and one back: either may be lost. */
  #transmitOpening(index: number, now: number): void {
    const message = this.#message(index);
    if (this.#isLost(message) || this.#isLost(message)) {
      this.#again(index, 'open again', openingTimeout, now);
      return;
    }
    message.next = 'opened';
    const { from, to } = message;
    this.#duties.schedule(
      now + this.#drawDelay(from, to) + this.#drawDelay(from, to) + 2 * (from.added + to.added),
      index,
    );
  }

  #again(index: number, next: Message['next'], timeout: number, now: number): void {
    const message = this.#message(index);
    message.next = next;
    this.#duties.schedule(now + Math.min(timeoutMax, timeout * 2 ** message.lost++), index);
  }

  #isLost({ from, to }: Message): boolean {
    if (this.#partitions.size > 0 && this.#isCut(from, to)) return true;
    const arrives = (1 - this.#settings.loss) * (1 - from.loss) * (1 - to.loss);
    return arrives < 1 && this.#bank.at(from.losses).next() >= arrives;
  }

  #isCut(one: End, other: End): boolean {
    for (const { of, from } of this.#partitions) {
      const [isOne, isOther] = [one.names.has(of), other.names.has(of)];
      const isCut =
        from === undefined ? isOne !== isOther : (isOne && other.names.has(from)) || (isOther && one.names.has(from));
      if (isCut) return true;
    }
    return false;
  }

  #drawDelay(from: End, to: End): number {
    this.#bank.at(from.delays);
    return isFar(from, to) ? this.#far() : this.#near();
  }

  /** Something goes wrong; `endOf` knows where a replica is. Returns what makes it right again. */
  inject(fault: NetworkFaultKind, endOf: (replica: string) => End): () => void {
    switch (fault.kind) {
      case 'partition': {
        const { of, from } = fault;
        const partition = { of, from };
        this.#partitions.add(partition);
        return () => this.#partitions.delete(partition);
      }
      case 'link': {
        const end = endOf(fault.replica);
        end.added = fault.delay;
        end.loss = fault.loss;
        return () => {
          end.added = 0;
          end.loss = 0;
        };
      }
      default:
        return unreachable(fault, 'a fault of the network that nobody injects');
    }
  }

  #message(index: number): Message {
    const message = this.#messages[index];
    assert(message !== undefined, 'a message is one of those that were sent');
    return message;
  }

  #newMessage(kind: number, subject: number, generation: number, from: End, to: End): number {
    const delay = this.#drawDelay(from, to);
    const freed = this.#freed.pop();
    if (freed === undefined) {
      return this.#messages.push({ kind, subject, generation, from, to, next: 'arrives', delay, lost: 0 }) - 1;
    }
    const message = this.#message(freed);
    message.kind = kind;
    message.subject = subject;
    message.generation = generation;
    message.from = from;
    message.to = to;
    message.delay = delay;
    message.lost = 0;
    return freed;
  }
}

const isFar = (one: End, other: End): boolean =>
  one.zone !== undefined && other.zone !== undefined && one.zone !== other.zone;
