// Who sends what to whom over the network, where a scenario has one. Without one the world hands everything over at once, and
// nothing here exists.
//
//   clients ──request──► gateway ──job──► station ──job──► station of another service
//           ◄─response──         ◄─answer─         ◄─answer─
//           ──withdrawal►        ──recall►         ──recall►
//
// Whoever gives up goes on at once; the other side learns of it one delay later, by a recall of the job or the withdrawal of
// the request, which never overtakes what it is about.

import { assert } from '../base.ts';
import type { Clients, Gateway, Network as NetworkSettings, NetworkFaultKind } from '../scenario.ts';
import type { Fleet } from './fleet.ts';
import type { Gate } from './gate.ts';
import { type Jobs, states } from './jobs.ts';
import { type End, Network } from './network.ts';
import type { Requests } from './requests.ts';

export interface PostDuties {
  readonly network: NetworkSettings;
  readonly gateway: Gateway | undefined;
  readonly jobs: Jobs;
  readonly requests: Requests;
  readonly fleet: Fleet;
  readonly seed: number;
  /** `pass` wants to be called for this message then. */
  schedule(at: number, message: number): void;
  /** Whoever waits for the job hears of its end. */
  tell(job: number, now: number): void;
  /** A request has come to its gate. */
  reached(request: number, now: number): void;
  /** Its client has left, and the gate learns of it. */
  withdrawn(request: number, now: number): void;
  /** What became of a request has come to its client. */
  heard(request: number, now: number): void;
}

const letters = { job: 0, answer: 1, recall: 2, request: 3, withdrawal: 4, response: 5 } as const;

export class Post {
  readonly #duties: PostDuties;
  readonly #network: Network;
  readonly #clients = new Map<string, End>();
  /** By view. */
  readonly #gateways: (End | undefined)[] = [];
  #forwarder: End | undefined;
  /** By station. */
  readonly #stations: (End | undefined)[] = [];
  /** By job: where it was sent from. */
  readonly #origins: (End | undefined)[] = [];

  constructor(duties: PostDuties) {
    this.#duties = duties;
    const { network, seed } = duties;
    this.#network = new Network(network, {
      seed,
      schedule: (at, message) => duties.schedule(at, message),
      deliver: (kind, subject, generation, now) => this.#deliver(kind, subject, generation, now),
    });
  }

  /** The event of a message has come. */
  pass(message: number, now: number): void {
    this.#network.pass(message, now);
  }

  /** Something goes wrong. Returns what makes it right again. */
  inject(fault: NetworkFaultKind): () => void {
    return this.#network.inject(fault, (replica) => this.station(this.#duties.fleet.station(replica).index));
  }

  // ── who is where ──────────────────────────────────────────────────────────────────────────────────────────────────

  clients({ name, zone }: Clients): End {
    const end = this.#clients.get(name) ?? this.#network.end(`clients/${name}`, zone, [name]);
    this.#clients.set(name, end);
    return end;
  }

  /** One of the load balancers, whatever services it stands before, or the forwarding proxy. */
  gate(kind: Gate['kind'], view: number): End {
    if (kind === 'forwarder') return (this.#forwarder ??= this.#network.end(kind, undefined, [kind]));
    return (this.#gateways[view] ??= this.#newGateway(view));
  }

  #newGateway(view: number): End {
    const zones = this.#duties.gateway?.zones;
    return this.#network.end(`gateway/${view}`, zones?.[view % zones.length], ['gateway']);
  }

  station(index: number): End {
    return (this.#stations[index] ??= this.#newStation(index));
  }

  #newStation(index: number): End {
    const { fleet } = this.#duties;
    const station = fleet.stations[index];
    assert(station !== undefined, 'a message goes to a station of the fleet');
    const { name, service } = fleet.siteOf(station);
    const zone = service.zones?.[station.place % service.zones.length];
    return this.#network.end(`station/${station.id}`, zone, [name, station.id]);
  }

  // ── jobs ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Sends a job to a station, on a connection that is there. */
  ask(job: number, from: End, station: number, now: number): void {
    const to = this.#depart(job, from, station);
    this.#network.send(letters.job, job, 0, from, to, now);
  }

  /** The same on a connection that is opened for it. */
  askAnew(job: number, from: End, station: number, now: number): void {
    const to = this.#depart(job, from, station);
    this.#network.open(letters.job, job, 0, from, to, now);
  }

  #depart(job: number, from: End, station: number): End {
    const { jobs } = this.#duties;
    jobs.station[job] = station;
    jobs.state[job] = states.travelling;
    this.#origins[job] = from;
    return this.station(station);
  }

  /** The job has ended at its station: tells whoever sent it, not before `earliest`. */
  answer(job: number, now: number, earliest: number): void {
    this.#network.send(letters.answer, job, 0, this.#stationOf(job), this.#originOf(job), now, earliest);
  }

  /** Nobody waits for this job any more; its station learns of it later. */
  recall(job: number, now: number): void {
    const { jobs } = this.#duties;
    jobs.parent[job] = -1;
    const generation = jobs.generation[job] ?? 0;
    this.#network.send(letters.recall, job, generation, this.#originOf(job), this.#stationOf(job), now);
  }

  #stationOf(job: number): End {
    return this.station(this.#duties.jobs.station[job] ?? -1);
  }

  #originOf(job: number): End {
    const origin = this.#origins[job];
    assert(origin !== undefined, 'a job was sent from somewhere');
    return origin;
  }

  // ── requests to a gate ────────────────────────────────────────────────────────────────────────────────────────────

  request(request: number, clients: End, gate: End, now: number): void {
    this.#network.send(letters.request, request, this.#generationOf(request), clients, gate, now);
  }

  /** The same on a connection that is opened for it. */
  requestAnew(request: number, clients: End, gate: End, now: number): void {
    this.#network.open(letters.request, request, this.#generationOf(request), clients, gate, now);
  }

  /** The client has given the request up. */
  withdraw(request: number, clients: End, gate: End, now: number): void {
    this.#network.send(letters.withdrawal, request, this.#generationOf(request), clients, gate, now);
  }

  /** The gate has done with it, well or badly. */
  respond(request: number, gate: End, clients: End, now: number): void {
    this.#network.send(letters.response, request, this.#generationOf(request), gate, clients, now);
  }

  #generationOf(request: number): number {
    return this.#duties.requests.generation[request] ?? 0;
  }

  // ── what arrives ──────────────────────────────────────────────────────────────────────────────────────────────────

  #deliver(kind: number, subject: number, generation: number, now: number): void {
    switch (kind) {
      case letters.job:
        this.#jobArrives(subject, now);
        return;
      case letters.answer:
        this.#duties.tell(subject, now);
        return;
      case letters.recall:
        if (this.#duties.jobs.generation[subject] === generation) this.#recalled(subject, now);
        return;
      default:
        // What has ended meanwhile, with its phase, is of no concern to anybody.
        if (this.#generationOf(subject) === generation) this.#requestArrives(kind, subject, now);
    }
  }

  #jobArrives(job: number, now: number): void {
    const { jobs, fleet } = this.#duties;
    const station = fleet.stations[jobs.station[job] ?? -1];
    assert(station !== undefined, 'a job arrives at a station');
    const isRecalled = jobs.state[job] === states.recalled;
    const generation = jobs.generation[job];
    jobs.state[job] = states.travelling;
    station.arrive(job, now);
    if (isRecalled && jobs.generation[job] === generation) station.abandon(job, now);
  }

  #recalled(job: number, now: number): void {
    const { jobs, fleet } = this.#duties;
    if (jobs.state[job] === states.travelling) jobs.state[job] = states.recalled;
    else fleet.stations[jobs.station[job] ?? -1]?.abandon(job, now);
  }

  #requestArrives(kind: number, request: number, now: number): void {
    switch (kind) {
      case letters.request:
        this.#duties.reached(request, now);
        return;
      case letters.withdrawal:
        this.#duties.withdrawn(request, now);
        return;
      case letters.response:
        this.#duties.heard(request, now);
        return;
      default:
        assert(false, 'a message is one of those that are sent');
    }
  }
}
