// A load run told as a table, for tests: each line is something that happens or something that is expected, at an instant.
//
//   closed users=1 think=10ms timeout=100ms flow=/a,/b      the group, first line
//   0     #1 opens                                          connection 1 is established
//   0     #1 asks GET /a                                    expected: that, and nothing else on it since
//   5     #1 answers 200 api-1
//   14    #1 asks nothing
//   15    #1 asks GET /b
//   20    stop grace=5
//   end   planned=2 answered=1 in_flight_at_end=1           expected of the ledger; what is not named must be 0
//
// Times are milliseconds. `#` begins a connection's number; a line that begins with `--` is a comment.
//
//   events    #n opens · refuses · answers STATUS [REPLICA] [close] · says RAW · hangs up · resets · fails KIND
//             stall MS (our process stands still) · measure · stop grace=MS
//   expected  #n asks METHOD PATH | nothing · #n is closed · connections N
//             second KEY=VALUE… (of the group's snapshot since the last one; in_flight=MIN/MEAN/MAX, errors as
//             error.KIND=N, shares as by.REPLICA=N, quantiles as p50=MS, p99=MS, lag=MS; with retries=N in the first line
//             tries=N and retries=N)
//             end KEY=VALUE…

import assert from 'node:assert/strict';
import { type Duration, type Instant, instantAt, ms, ns } from '../../base.ts';
import { constant, type Distribution, type Objective, type Step } from '../../scenario.ts';
import type { GroupSnapshot, LoadGroup, LoadResult, LoadRun } from '../contract.ts';
import { ImaginedEngine, type ImaginedSocket } from './imagined-engine.ts';
import { startLoad } from '../run.ts';

export interface ScriptOptions {
  /** Every alarm rings this late. */
  readonly alarmLateness?: Duration;
  readonly objectives?: readonly Objective[];
}

/** Plays a script and fails at the first line that does not hold. */
export async function checkLoad(script: string, options: ScriptOptions = {}): Promise<void> {
  await playLoad(script, options);
}

/** Plays a script that stops its run, and returns what the run came to. */
export async function playLoad(script: string, options: ScriptOptions = {}): Promise<LoadResult> {
  const lines = script
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('--'));
  const [first = '', ...rest] = lines;
  const play = new Play(first, options);
  for (const line of rest) await play.line(line);
  return play.finish();
}

const exponential = (mean: Duration): Distribution => ({ kind: 'exponential', mean });

/** The group that a script's first line describes. */
export function groupOf(line: string): LoadGroup {
  const [kind, ...settings] = line.split(/\s+/);
  const given = new Map(settings.map((setting) => splitAt(setting, '=')));
  const flow = (given.get('flow') ?? '/').split(',').map(stepOf);
  const targets = (given.get('targets') ?? 'gateway').split(',');
  const common = {
    group: 'shop',
    targets: targets.map((id, index) => ({ id, host: `10.0.0.${index + 1}`, port: 8000 })),
    choice: choiceOf(given.get('choice')),
    timeout: msOf(given.get('timeout') ?? '1000'),
    ...(given.has('max') ? { connectionsMax: Number(given.get('max')) } : {}),
    ...(given.has('room') ? { waitingMax: Number(given.get('room')) } : {}),
    ...(given.has('min') ? { connectionsMin: Number(given.get('min')) } : {}),
    ...retryOf(given),
    ...(given.has('pinned') ? { pinned: true } : {}),
    ...keepAliveOf(given),
  };
  if (kind === 'closed') {
    const users = Number(given.get('users') ?? 1);
    const length = msOf(given.get('think') ?? '0');
    const think = given.get('thoughts') === 'exponential' ? exponential(length) : constant(length);
    return {
      ...common,
      demand: { kind, clients: 'shop', users, flow, think },
    };
  }
  assert.equal(kind, 'open', `a script begins with a group: ${line}`);
  return {
    ...common,
    demand: {
      kind: 'open',
      clients: 'shop',
      ratePerSecond: Number(given.get('rate') ?? 10),
      arrivals: given.get('arrivals') === 'poisson' ? 'poisson' : 'constant',
      flow,
    },
  };
}

function retryOf(given: ReadonlyMap<string, string>): Pick<LoadGroup, 'retry'> {
  const retries = given.get('retries');
  if (retries === undefined) return {};
  const budget = given.has('budget') ? Number(given.get('budget')) : undefined;
  return { retry: { retries: Number(retries), backOff: msOf(given.get('back') ?? '0'), budget } };
}

function keepAliveOf(given: ReadonlyMap<string, string>): Pick<LoadGroup, 'keepAlive'> {
  const [requests, lifetime] = [given.get('requests'), given.get('lifetime')];
  if (requests === undefined && lifetime === undefined) return {};
  return {
    keepAlive: {
      requests: requests === undefined ? undefined : Number(requests),
      lifetime: lifetime === undefined ? undefined : msOf(lifetime),
    },
  };
}

class Play {
  readonly #engine: ImaginedEngine;
  readonly #run: LoadRun;
  #last: GroupSnapshot | undefined;
  #stopped: Promise<LoadResult> | undefined;
  #result: LoadResult | undefined;
  #until: Instant = instantAt(0);
  readonly #lateness: Duration;

  constructor(first: string, options: ScriptOptions) {
    const lateness = options.alarmLateness;
    this.#lateness = lateness ?? ns(0);
    this.#engine = new ImaginedEngine(lateness === undefined ? {} : { alarmLateness: () => lateness });
    const plan = { groups: [groupOf(first)], seed: 1, objectives: options.objectives ?? [] };
    this.#run = startLoad(plan, this.#engine, { cpu: () => ns(0) });
  }

  async line(line: string): Promise<void> {
    const [when = '', ...words] = line.split(/\s+/);
    try {
      if (when === 'end') return this.#expectLedger(await this.finish(), words);
      const at = instantAt(msOf(when));
      if (words[0] === 'stall') {
        this.#engine.advance(at);
        this.#engine.stall(instantAt(at + msOf(words[1] ?? '')));
        return;
      }
      this.#engine.advance(at);
      this.#play(words, line);
      this.#engine.advance(at);
    } catch (error) {
      if (error instanceof Error) error.message = `${line}\n${error.message}`;
      throw error;
    }
  }

  async finish(): Promise<LoadResult> {
    assert.ok(this.#stopped !== undefined, 'a script stops its run');
    if (this.#result !== undefined) return this.#result;
    this.#engine.advance(this.#until);
    this.#result = await this.#stopped;
    return this.#result;
  }

  #play(words: readonly string[], line: string): void {
    const [subject = '', verb = '', ...rest] = words;
    if (subject.startsWith('#')) return this.#socketLine(this.#socket(Number(subject.slice(1))), verb, rest, line);
    switch (subject) {
      case 'measure':
        return this.#run.measure();
      case 'stop': {
        const grace = msOf(splitAt(verb, '=')[1]);
        this.#until = instantAt(this.#engine.now() + grace + ms(2) + 2 * this.#lateness);
        this.#stopped = this.#run.stop(grace);
        return;
      }
      case 'connections':
        assert.equal(this.#engine.sockets.filter((socket) => !socket.closed).length, Number(verb));
        return;
      case 'second':
        this.#last = this.#run.snapshot().groups[0];
        return this.#expectSecond([verb, ...rest]);
      default:
        assert.fail(`no such line: ${line}`);
    }
  }

  #socketLine(socket: ImaginedSocket, verb: string, rest: readonly string[], line: string): void {
    switch (verb) {
      case 'opens':
        return socket.open();
      case 'refuses':
        return socket.fail('refused', 'connect');
      case 'fails':
        return socket.fail(rest[0] === 'no-ports' ? 'no-ports' : 'no-files', 'connect');
      case 'resets':
        return socket.fail('reset', 'open');
      case 'hangs':
        return socket.hangUp();
      case 'answers':
        return socket.answer(answerText(rest));
      case 'says':
        return socket.answer(rest.join(' ').replaceAll('\\r\\n', '\r\n'));
      case 'is':
        assert.equal(socket.closed, true, 'the connection is closed');
        return;
      case 'asks': {
        const asked = socket.received();
        const heads = [...asked.matchAll(/^([A-Z]+ \S+) HTTP\/1\.1\r$/gm)].map((match) => match[1]);
        assert.deepEqual(heads, rest[0] === 'nothing' ? [] : [rest.join(' ')]);
        return;
      }
      default:
        assert.fail(`no such line: ${line}`);
    }
  }

  #socket(number: number): ImaginedSocket {
    const socket = this.#engine.sockets[number - 1];
    assert.ok(socket !== undefined, `connection ${number} was asked for: there are ${this.#engine.sockets.length}`);
    return socket;
  }

  #expectSecond(settings: readonly string[]): void {
    const second = this.#last;
    assert.ok(second !== undefined);
    for (const setting of settings) {
      const [key, value] = splitAt(setting, '=');
      assert.equal(secondValue(second, key), value, key);
    }
  }

  #expectLedger(result: LoadResult, settings: readonly string[]): void {
    const { group: _group, ...ledger } = result.ledgers[0] ?? assert.fail('the group has a ledger');
    const expected = Object.fromEntries(Object.keys(ledger).map((key) => [key, 0]));
    for (const setting of settings) {
      const [key, value] = splitAt(setting, '=');
      expected[key] = Number(value);
    }
    assert.deepEqual(ledger, expected);
  }
}

function secondValue(second: GroupSnapshot, key: string): string {
  const [head, tail] = splitAt(key, '.');
  switch (head) {
    case 'planned':
    case 'sent':
    case 'answered':
    case 'refused':
      return String(second[head]);
    case 'tries':
      return String(second.tries?.sent);
    case 'retries':
      return String(second.tries?.retries);
    case 'in_flight':
      return [second.inFlightMin, second.inFlightMean, second.inFlightMax].map((level) => +level.toFixed(3)).join('/');
    case 'by':
      return String(second.answeredBy[tail] ?? 0);
    case 'p50':
      return String(+((second.latency?.p50_ns ?? NaN) / 1e6).toFixed(1));
    case 'p99':
      return String(+((second.latency?.p99_ns ?? NaN) / 1e6).toFixed(1));
    case 'lag':
      return String(+((second.lag?.max_ns ?? NaN) / 1e6).toFixed(1));
    case 'error':
      return String(second.errors[tail] ?? 0);
    default:
      assert.fail(`no such figure: ${key}`);
  }
}

/** An answer of HTTP/1.1 from words: `200 api-1 close`. */
export function answerText(words: readonly string[]): string {
  const [status = '200', ...rest] = words;
  const replica = rest.find((word) => word !== 'close');
  return [
    `HTTP/1.1 ${status} Whatever`,
    'Content-Length: 2',
    ...(replica === undefined ? [] : [`X-Plimsoll-Replica: ${replica}`]),
    ...(rest.includes('close') ? ['Connection: close'] : []),
    '',
    'ok',
  ].join('\r\n');
}

const stepOf = (text: string): Step => {
  const [method, path] = text.includes(':') ? splitAt(text, ':') : ['GET', text];
  return { method, path, headers: {}, body: undefined };
};

const choiceOf = (text: string | undefined): LoadGroup['choice'] =>
  text === 'pick-first' || text === 'random' ? text : 'round-robin';

const msOf = (text: string): Duration => ms(Number(text.replace(/ms$/, '')));

function splitAt(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index === -1 ? [text, ''] : [text.slice(0, index), text.slice(index + separator.length)];
}
