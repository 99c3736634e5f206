// Performs what the active check of each endpoint asks for: a GET on a connection of its own, a verdict, the next appointment.
// The decision, when to ask and what an answer means, is `policy`'s; here are only a socket and an alarm.

import { dice, type Instant } from '../base.ts';
import type { Alarm, Socket, SocketHandler } from '../net.ts';
import { ActiveCheck } from '../policy.ts';
import { encodeRequest, type ResponseReader, responseReader } from '../wire.ts';
import type { HealthConfig } from './config.ts';
import type { DataPlane } from './data-plane.ts';
import type { LiveEndpoint } from './live-endpoint.ts';
import type { LiveFleet } from './live-fleet.ts';

export class HealthChecks {
  readonly #plane: DataPlane;
  readonly #fleet: LiveFleet;
  readonly #config: HealthConfig;
  readonly #seed: number;
  readonly #watches = new Map<LiveEndpoint, Watch>();

  constructor(plane: DataPlane, fleet: LiveFleet, config: HealthConfig, seed: number) {
    this.#plane = plane;
    this.#fleet = fleet;
    this.#config = config;
    this.#seed = seed;
  }

  /** Watches exactly the endpoints that are in the fleet now, and in the part of it that this gateway talks to. */
  follow(): void {
    const fleet = this.#fleet;
    const present = new Set(fleet.endpoints.filter((live) => live.member));
    for (const [live, watch] of this.#watches) {
      if (present.has(live)) continue;
      watch.end();
      this.#watches.delete(live);
    }
    for (const live of present) {
      if (this.#watches.has(live)) continue;
      if (this.#config.initially === 'down') fleet.setPasses(live, false);
      this.#watches.set(live, this.#watch(live));
    }
  }

  end(): void {
    for (const watch of this.#watches.values()) watch.end();
    this.#watches.clear();
  }

  #watch(live: LiveEndpoint): Watch {
    const stream = dice(this.#seed, `gateway/health/${live.endpoint.id}`);
    const check = new ActiveCheck(this.#config, stream, this.#plane.engine.now());
    return new Watch(this.#plane, live, check, this.#config.path, (healthy) => this.#fleet.setPasses(live, healthy));
  }
}

class Watch {
  readonly #plane: DataPlane;
  readonly #live: LiveEndpoint;
  readonly #check: ActiveCheck;
  readonly #path: string;
  readonly #changed: (healthy: boolean) => void;
  #alarm: Alarm | undefined;
  #probe: Probe | undefined;
  #ended = false;

  constructor(
    plane: DataPlane,
    live: LiveEndpoint,
    check: ActiveCheck,
    path: string,
    changed: (healthy: boolean) => void,
  ) {
    this.#plane = plane;
    this.#live = live;
    this.#check = check;
    this.#path = path;
    this.#changed = changed;
    this.#wait();
  }

  end(): void {
    this.#ended = true;
    this.#alarm?.cancel();
    this.#probe?.cancel();
  }

  #wait(): void {
    const { next } = this.#check;
    if (next === undefined || this.#ended) return;
    this.#alarm = this.#plane.engine.alarm(next, (now) => this.#ask(now));
  }

  #ask(now: Instant): void {
    const until = this.#check.asked(now);
    this.#probe = new Probe(this.#plane, this.#live, this.#path, until, (passed, at) => {
      this.#probe = undefined;
      const change = this.#check.observe(passed, at);
      if (change !== 'same' && !this.#ended) this.#changed(change === 'rose');
      this.#wait();
    });
  }
}

/** One question: connect, GET, read the status. Anything but a 2xx or 3xx in time is a failure. */
class Probe implements SocketHandler {
  readonly #plane: DataPlane;
  readonly #socket: Socket;
  readonly #reader: ResponseReader;
  readonly #request: Uint8Array;
  readonly #alarm: Alarm;
  #tell: ((passed: boolean, now: Instant) => void) | undefined;

  constructor(
    plane: DataPlane,
    live: LiveEndpoint,
    path: string,
    until: Instant,
    tell: (passed: boolean, now: Instant) => void,
  ) {
    const { host, port } = live.endpoint;
    this.#plane = plane;
    this.#tell = tell;
    this.#request = encodeRequest({
      method: 'GET',
      target: path,
      headers: [
        ['host', `${host}:${port}`],
        ['user-agent', 'plimsoll-health'],
        ['connection', 'close'],
      ],
    });
    this.#reader = responseReader({
      onHead: (head) => this.#done(head.status >= 200 && head.status < 400, plane.engine.now()),
      onBody: () => {},
      onEnd: () => {},
    });
    this.#alarm = plane.engine.alarm(until, (now) => this.#done(false, now));
    this.#socket = plane.engine.connect(plane.targetOf(live.endpoint), this);
  }

  cancel(): void {
    this.#tell = undefined;
    this.#alarm.cancel();
    this.#socket.destroy();
  }

  onOpen(socket: Socket): void {
    this.#reader.expect('GET');
    const preamble = this.#plane.preambleFor(undefined);
    if (preamble !== undefined) socket.write(preamble);
    socket.write(this.#request);
  }

  onData(_socket: Socket, bytes: Uint8Array, now: Instant): void {
    if (this.#tell === undefined) return;
    this.#reader.read(bytes);
    if (this.#reader.error !== undefined) this.#done(false, now);
  }

  onClose(_socket: Socket, _error: unknown, now: Instant): void {
    this.#done(false, now);
  }

  #done(passed: boolean, now: Instant): void {
    const tell = this.#tell;
    if (tell === undefined) return;
    this.cancel();
    tell(passed, now);
  }
}
