// A program that the lab started: its standard streams, its signals, its end.
//
// It is started in a session of its own: a Ctrl-C in the terminal reaches the runner alone, which then decides. It inherits the lab's
// token in its environment, by which the warden knows it. Its stdin is a pipe that the lab holds open: our own programs
// end when it closes.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Duration, formatDuration, inMs, ms, seconds } from '../base.ts';
import { LabError } from './lab-error.ts';

/** How long a program may take until it says that it is ready: some hundred times what it needs. */
const readyTimeout = seconds(15);
/** How many of the last lines on stderr are kept for a message. */
const lastLinesMax = 12;
/** How long the last lines of a program that has ended are waited for. */
const lastWordsPatience = ms(200);
/** The longest line that is passed on or kept. */
const lineLengthMax = 500;
/** So many lines are passed on, then one that says that there are more: a program that complains of each request would drown
 * everything else. */
const linesPassedMax = 200;

export interface ChildOptions {
  /** How people call it: `api-1`, `gateway`. */
  readonly name: string;
  readonly command: readonly string[];
  readonly token: string;
  /** A file descriptor that stdout goes to; without it lines are read, the first as a ready line. */
  readonly stdoutTo?: number;
  readonly folder?: string;
  /** A line on stderr, or on stdout after the ready line. */
  readonly onLine: (line: string) => void;
  /** It ended though nobody asked it to, after it had been ready. */
  readonly onLost: (how: string) => void;
}

/** The line on stdout by which our programs say that they are ready. */
export interface ReadyLine {
  readonly port: number | undefined;
  readonly adminPort: number | undefined;
  readonly version: string | undefined;
}

export class ChildProgram {
  readonly name: string;
  readonly #options: ChildOptions;
  readonly #process: ChildProcess;
  readonly #ended: Promise<string>;
  readonly #lastLines: string[] = [];
  #passed = 0;
  #exited = false;
  /** Whether an end would be news to the lab. */
  #watched = false;
  #firstLine: ((line: string) => void) | undefined;

  constructor(options: ChildOptions) {
    this.name = options.name;
    this.#options = options;
    const [program = '', ...rest] = options.command;
    this.#process = spawn(program, rest, {
      detached: true,
      stdio: ['pipe', options.stdoutTo ?? 'pipe', 'pipe'],
      env: environment(options.token),
      ...(options.folder === undefined ? {} : { cwd: options.folder }),
    });
    this.#ended = new Promise((resolve) => {
      this.#process.once('error', (error) => resolve(`it could not be started: ${error.message}`));
      this.#process.once('exit', (code, signal) => {
        const how = howItEnded(code, signal);
        this.#exited = true;
        // The last lines may still be on their way; but a child of its own may hold the pipe open for ever.
        const timer = setTimeout(() => resolve(how), inMs(lastWordsPatience));
        this.#process.once('close', () => {
          clearTimeout(timer);
          resolve(how);
        });
      });
    });
    void this.#ended.then((how) => this.#end(how));
    // A child that has gone makes writing to its stdin fail; its end is noticed by other means.
    this.#process.stdin?.on('error', () => {});
    this.#readLines();
  }

  /** Undefined when it could not be started at all. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  get running(): boolean {
    return !this.#exited && this.#process.pid !== undefined;
  }

  /** Resolves with how it ended, as a clause: `it ended with code 1`. */
  get ended(): Promise<string> {
    return this.#ended;
  }

  /** Waits for the ready line. Rejects with a `LabError` when the program ends or takes too long. */
  async ready(): Promise<ReadyLine> {
    const line = await this.until(
      new Promise<string>((resolve) => {
        this.#firstLine = resolve;
      }),
    );
    return parseReadyLine(line) ?? (await this.#failed(`it said ${JSON.stringify(line)} instead of a ready line`));
  }

  /** Waits for another sign that it has started. Rejects with a `LabError` when it ends or takes too long. */
  async until<Sign>(sign: Promise<Sign>): Promise<Sign> {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`it was not ready after ${formatDuration(readyTimeout)}`), inMs(readyTimeout));
    });
    const failed = Promise.race([this.#ended, tooLong]).then((how) => this.#failed(how));
    try {
      const first = await Promise.race([sign, failed]);
      this.#watched = true;
      return first;
    } finally {
      clearTimeout(timer);
      // The loser of the race may still reject when the program ends one day.
      failed.catch(() => {});
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  write(line: string): void {
    this.#process.stdin?.write(`${line}\n`);
  }

  /** Closes its stdin and waits for its end; after `patience` it is killed. */
  async closeStdin(patience: Duration): Promise<void> {
    this.#watched = false;
    this.#process.stdin?.end();
    await this.#endedWithin(patience);
  }

  /** Asks it to end (SIGTERM) and waits; after `patience` it is killed. */
  async end(patience: Duration): Promise<void> {
    this.#watched = false;
    this.signal('SIGTERM');
    await this.#endedWithin(patience);
  }

  /** SIGKILL, and waits until it has gone. */
  async kill(): Promise<void> {
    this.#watched = false;
    this.#killGroup();
    await this.#ended;
  }

  async #endedWithin(patience: Duration): Promise<void> {
    const timer = setTimeout(() => this.#killGroup(), inMs(patience));
    await this.#ended;
    clearTimeout(timer);
  }

  /** Kills it with its own children: it leads a process group. Only while it runs, for then the number is certainly its. */
  #killGroup(): void {
    const { pid } = this.#process;
    if (pid === undefined || !this.running) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended, and the news is on its way.
    }
  }

  #end(how: string): void {
    if (this.#watched) this.#options.onLost(this.#withLastLines(how));
  }

  async #failed(how: string): Promise<never> {
    await this.kill();
    throw new LabError(
      `${this.name} did not start: ${this.#withLastLines(how)}\n  command: ${this.#options.command.join(' ')}`,
    );
  }

  #withLastLines(how: string): string {
    return [how, ...this.#lastLines.map((line) => `  ${this.name}: ${line}`)].join('\n');
  }

  #readLines(): void {
    const { stdout, stderr } = this.#process;
    if (stdout !== null) {
      createInterface({ input: stdout }).on('line', (line) => {
        const first = this.#firstLine;
        this.#firstLine = undefined;
        if (first !== undefined) first(line);
        else this.#passOn(line.slice(0, lineLengthMax));
      });
    }
    if (stderr !== null) {
      createInterface({ input: stderr }).on('line', (line) => {
        const kept = line.slice(0, lineLengthMax);
        this.#lastLines.push(kept);
        if (this.#lastLines.length > lastLinesMax) this.#lastLines.shift();
        this.#passOn(kept);
      });
    }
  }

  #passOn(line: string): void {
    this.#passed += 1;
    if (this.#passed <= linesPassedMax) this.#options.onLine(line);
    if (this.#passed === linesPassedMax + 1) this.#options.onLine('it says more, which is not passed on');
  }
}

/** Only what a program needs to be found and to run, so that two runners in different shells start equal labs. Local time is
 * UTC, because a balancer's log gives local time and no zone. Compiled code is cached where Node would by default. */
function environment(token: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TMPDIR: process.env['TMPDIR'],
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
    PLIMSOLL_LAB: token,
  };
}

function howItEnded(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `it ended with code ${code ?? 'unknown'}` : `it was ended by ${signal}`;
}

function parseReadyLine(line: string): ReadyLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('ready' in value)) return undefined;
  return {
    port: 'port' in value && typeof value.port === 'number' ? value.port : undefined,
    adminPort: 'admin_port' in value && typeof value.admin_port === 'number' ? value.admin_port : undefined,
    version: 'version' in value && typeof value.version === 'string' ? value.version : undefined,
  };
}
