// A server on the other end of an imagined engine's sockets, for tests against theory: it knows exactly how long each request
// takes, and can stand still at set times as a process does that is stopped or collects garbage.

import { after, type Duration, type Instant, ms } from '../../base.ts';
import { ImaginedEngine, type ImaginedSocket } from './imagined-engine.ts';
import { answerText } from './scripted-load.ts';

export interface ImaginedServerOptions {
  readonly serviceTime: () => Duration;
  /** Requests served at once; the rest wait in order. Default: no limit. */
  readonly workers?: number;
  /** It does nothing from `at` until `until`, again and again with the given distance if there is one. */
  readonly stall?: { readonly at: Instant; readonly until: Instant };
  readonly replica?: string;
  readonly alarmLateness?: (at: Instant) => Duration;
}

export class ImaginedServer {
  readonly engine: ImaginedEngine;
  answered = 0;
  readonly #options: ImaginedServerOptions;
  readonly #queue: ImaginedSocket[] = [];
  #busy = 0;

  constructor(options: ImaginedServerOptions) {
    this.#options = options;
    this.engine = new ImaginedEngine({
      ...(options.alarmLateness === undefined ? {} : { alarmLateness: options.alarmLateness }),
      onConnect: (socket) => {
        socket.onWritten = () => this.#received(socket);
        this.engine.at(after(this.engine.now(), ms(0.1)), () => socket.open());
      },
    });
  }

  #received(socket: ImaginedSocket): void {
    const requests = socket.received().split('\r\n\r\n').length - 1;
    for (let count = 0; count < requests; count++) this.#queue.push(socket);
    this.#serve();
  }

  #serve(): void {
    while (this.#busy < (this.#options.workers ?? Infinity)) {
      const socket = this.#queue.shift();
      if (socket === undefined) return;
      this.#busy += 1;
      const { serviceTime, stall } = this.#options;
      const now = this.engine.now();
      const begins = stall !== undefined && now >= stall.at && now < stall.until ? stall.until : now;
      const ends = after(begins, serviceTime());
      this.engine.at(ends, () => {
        this.#busy -= 1;
        this.answered += 1;
        socket.answer(answerText(['200', this.#options.replica ?? 'api-1']));
        this.#serve();
      });
    }
  }
}
