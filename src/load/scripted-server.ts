// A server that takes exactly as long as its script says, on a thread of its own, and writes down when each request came and
// when its answer left: the truth against which a generator can be held. It shares the generator's clock, so the two logs can
// be laid side by side without any correction.
//
//   service   mostly `usual`, and one request in `rareEvery` takes `rare`
//   stalls    what would be answered in a stall is answered at its end; a stall without an end is an outage

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { after, assert, type Duration, Heap, type Instant, instantAt } from '../base.ts';
import { type Alarm, type Engine, nodeEngine, type Socket, type SocketHandler } from '../net.ts';
import { requestReader, type RequestReader } from '../wire.ts';

export interface ServerScript {
  readonly usual: Duration;
  readonly rare?: Duration;
  /** Every so many requests one is rare. */
  readonly rareEvery?: number;
  /** Instants of the common clock. */
  readonly stalls: readonly { readonly from: Instant; readonly until: Instant }[];
}

export interface ServerSetting {
  /** The monotonic clock's reading that is instant 0. */
  readonly clockStart: bigint;
}

export type ToServer =
  | { readonly kind: 'play'; readonly script: ServerScript }
  | { readonly kind: 'tell' }
  | { readonly kind: 'close' };

export type FromServer =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'playing' }
  /** In order of arrival; an answer that never left is NaN. */
  | { readonly kind: 'log'; readonly arrived: Float64Array; readonly answered: Float64Array };

const answer = new TextEncoder().encode('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Plimsoll-Replica: truth\r\n\r\nok');

class ScriptedServer {
  readonly #engine: Engine;
  #script: ServerScript = { usual: 0 as Duration, stalls: [] };
  #arrived: number[] = [];
  #answered: number[] = [];
  /** Numbers of requests, by when their answers leave. */
  readonly #leaving = new Heap<{ readonly request: number; readonly socket: Socket }>();
  #alarm: Alarm | undefined;
  #alarmAt: number = Infinity;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  play(script: ServerScript): void {
    this.#script = script;
    this.#arrived = [];
    this.#answered = [];
    this.#leaving.clear();
  }

  log(): { readonly arrived: Float64Array; readonly answered: Float64Array } {
    return { arrived: Float64Array.from(this.#arrived), answered: Float64Array.from(this.#answered) };
  }

  accept(): SocketHandler {
    let reader: RequestReader | undefined;
    let current: Socket | undefined;
    const handler: SocketHandler = {
      onData: (socket, bytes, now) => {
        current = socket;
        reader ??= requestReader({
          onHead: () => {},
          onBody: () => {},
          onEnd: () => current !== undefined && this.#receive(current, this.#engine.now()),
        });
        reader.read(bytes);
        this.#release(now);
      },
      onClose: () => {},
    };
    return handler;
  }

  #receive(socket: Socket, now: Instant): void {
    const request = this.#arrived.length;
    this.#arrived.push(now);
    this.#answered.push(Number.NaN);
    const { rare, rareEvery, usual } = this.#script;
    const takes = rare !== undefined && rareEvery !== undefined && request % rareEvery === 0 ? rare : usual;
    this.#leaving.push(this.#outsideStalls(after(now, takes)), { request, socket });
  }

  #outsideStalls(at: Instant): Instant {
    return this.#script.stalls.find(({ from, until }) => at >= from && at < until)?.until ?? at;
  }

  #release(now: Instant): void {
    for (;;) {
      const next = this.#leaving.nextKey;
      if (next === undefined || next === Infinity) return;
      if (next > now) break;
      const leaving = this.#leaving.pop();
      if (leaving === undefined) return;
      leaving.socket.write(answer);
      this.#answered[leaving.request] = now;
    }
    const next = this.#leaving.nextKey;
    if (next === undefined || next >= this.#alarmAt) return;
    this.#alarm?.cancel();
    this.#alarmAt = next;
    this.#alarm = this.#engine.alarm(instantAt(next), (at) => {
      this.#alarmAt = Infinity;
      this.#release(at);
    });
  }
}

async function serve(setting: ServerSetting, port: MessagePort): Promise<void> {
  const { clockStart } = setting;
  const tell = (message: FromServer): void => port.postMessage(message);
  const engine = nodeEngine({ clock: () => instantAt(Number(process.hrtime.bigint() - clockStart)) });
  const server = new ScriptedServer(engine);
  const listener = await engine.listen({ host: '127.0.0.1', port: 0 }, () => server.accept());
  port.on('message', (told: ToServer) => {
    switch (told.kind) {
      case 'play':
        server.play(told.script);
        tell({ kind: 'playing' });
        return;
      case 'tell':
        tell({ kind: 'log', ...server.log() });
        return;
      case 'close':
        port.close();
        void engine.close();
    }
  });
  tell({ kind: 'listening', port: listener.port });
}

const isSetting = (given: unknown): given is ServerSetting =>
  typeof given === 'object' && given !== null && 'clockStart' in given;

if (parentPort !== null) {
  const setting: unknown = workerData;
  assert(isSetting(setting), 'the scripted server is started with its setting');
  await serve(setting, parentPort);
}
