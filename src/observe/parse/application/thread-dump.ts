// What every thread was doing at one moment: Java (`jstack`, `kill -3`), Go (goroutines), Python (`py-spy dump`).
//
//   "http-nio-8080-exec-1" #31 daemon prio=5 … runnable [0x…]
//      java.lang.Thread.State: RUNNABLE
//       at java.net.SocketInputStream.socketRead0(Native Method)
//       at com.example.Store.find(Store.java:40)
//
// Threads of one pool differ by a number in their names; they are counted together, by state, by the frame on top and by the
// first frame of the program's own. Where most of a pool stand at the same place, somebody waits for something: a message.

import { shareOfLines, type WholeFormat } from '../format.ts';
import { leadingInstant } from '../instants.ts';
import type { Sink } from '../sink.ts';

const javaThread = /^"([^"]+)"(?: #\d+)?.*\b(?:prio|tid|nid|os_prio)=/;
const javaState = /^\s+java\.lang\.Thread\.State: ([A-Z_]+)/;
const javaFrame = /^\s+at ([\w.$/<>]+)\(/;
const javaDump = /^Full thread dump/;
const goThread = /^goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[([^\],]+)(?:, (\d+) minutes)?.*\]:$/;
const goFrame = /^([\w./*()[\]{}-]+(?:\.\.\.)?)\(.*\)$/;
const pythonThread = /^Thread (?:0x)?\w+ \((\w+)[^)]*\)(?:: "([^"]*)")?/;
const pythonFrame = /^\s{4}(\S.*?) \((\S+?):\d+\)$/;
const passedOver =
  /^\s+(?:-|Locked|No compile|parking|\/|native)|^(?:JNI|Threads class|_java_thread_list|SIGQUIT|Heap|Process \d+|Python v|created by|\}|Found \d|Java stack information|={3,})|^\s+0x|^\s+[\w./-]+\.go:\d+/;

/** Frames in which a thread waits for another machine. */
const network =
  /socketRead|SocketDispatcher\.read|NioSocketImpl\.(?:park|timedRead|implRead)|poll\.runtime_pollWait|netpoll|IO wait|recv_into|recv\b|ssl.*read|readSocket|readPacket|PGStream\.receive|Net\.poll/i;
/** Frames in which a thread waits for a connection of a pool. */
const pool =
  /HikariPool\.getConnection|ConcurrentBag\.borrow|GenericObjectPool\.borrowObject|PoolingHttpClientConnectionManager|BlockingConnectionPool|getConnection|AcquireConn|DB\)\.conn\b|queue\.py.*get|pool\.py.*_do_get/;
const libraries =
  /^(?:java|javax|jdk|sun|com\.sun|kotlin|scala|io\.netty|org\.apache|org\.postgresql|com\.mysql|com\.zaxxer|runtime|internal|net|syscall|sync|database\/sql|bufio|io)[./]/;

export const threadDump: WholeFormat = {
  kind: 'whole',
  name: 'thread dump',
  recognise(head) {
    if (javaDump.test(head) || /^\s+java\.lang\.Thread\.State: /m.test(head)) return 1;
    if (/^goroutine \d+ .*\[.*\]:$/m.test(head)) return 0.97;
    const threads = shareOfLines(head, (line) => pythonThread.test(line) || pythonFrame.test(line));
    return threads > 0.5 && /^Thread \w+ \(\w+/m.test(head) ? 0.9 : 0;
  },
  read(text, sink) {
    const dumps = new Dumps(sink);
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      if (dumps.line(line, index + 1)) sink.understood();
      else sink.foreign(index + 1, line);
    }
    dumps.end();
  },
};

interface Thread {
  readonly pool: string;
  readonly line: number;
  state: string;
  readonly frames: string[];
}

const framesKept = 60;

class Dumps {
  readonly #sink: Sink;
  #threads: Thread[] = [];
  #thread: Thread | undefined;
  #atMs: number | undefined;
  #written = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  line(text: string, line: number): boolean {
    const time = leadingInstant(text);
    if (time !== undefined && time.end >= text.trimEnd().length) {
      this.#close();
      this.#atMs = time.ms;
      return true;
    }
    if (javaDump.test(text)) {
      this.#close();
      return true;
    }
    return this.#begins(text, line) || this.#continues(text) || passedOver.test(text);
  }

  #begins(text: string, line: number): boolean {
    const java = javaThread.exec(text);
    const go = goThread.exec(text);
    const python = pythonThread.exec(text);
    if (java !== null) this.#open(java[1] ?? '', 'UNKNOWN', line);
    else if (go !== null) this.#open('goroutines', go[1] ?? '', line);
    else if (python !== null) this.#open(python[2] ?? 'threads', python[1] ?? '', line);
    return java !== null || go !== null || python !== null;
  }

  #continues(text: string): boolean {
    const thread = this.#thread;
    if (thread === undefined) return false;
    const state = javaState.exec(text);
    if (state !== null) {
      thread.state = state[1] ?? '';
      return true;
    }
    const frame = javaFrame.exec(text) ?? goFrame.exec(text);
    const python = pythonFrame.exec(text);
    const name = python === null ? frame?.[1] : `${python[1] ?? ''} (${python[2] ?? ''})`;
    if (name === undefined) return false;
    if (thread.frames.length < framesKept) thread.frames.push(name.replace(/^(?:java\.base|app)(?:@[\d.]+)?\//, ''));
    return true;
  }

  #open(name: string, state: string, line: number): void {
    // `http-nio-8080-exec-7`: the last number tells threads apart, one before it pools.
    const pooled = name.replace(/\d+(?=\D*$)/, '#');
    this.#thread = { pool: pooled, state, line, frames: [] };
    this.#threads.push(this.#thread);
  }

  end(): void {
    this.#close();
  }

  /** One dump is over: counts, and what stands out. */
  #close(): void {
    if (this.#threads.length === 0) return;
    if (this.#written > 0) this.#sink.nextReading();
    this.#written += 1;
    const pools = Map.groupBy(this.#threads, (thread) => thread.pool);
    for (const [name, threads] of pools) {
      this.#count(name, threads);
      this.#judge(name, threads);
    }
    this.#threads = [];
    this.#thread = undefined;
  }

  #count(name: string, threads: readonly Thread[]): void {
    const places = Map.groupBy(threads, (thread) => `${thread.state}\n${topOf(thread)}\n${ownOf(thread)}`);
    for (const group of places.values()) {
      const [first] = group;
      if (first === undefined) continue;
      const labels = { pool: name, state: first.state, top: topOf(first), own: ownOf(first) };
      this.#sink.sample('threads', labels, group.length, { type: 'gauge', atMs: this.#atMs, line: first.line });
    }
  }

  /** At least four threads, and more than half of the pool, in the same wait. */
  #judge(name: string, threads: readonly Thread[]): void {
    for (const [pattern, code, what] of [
      [pool, 'threads-wait-for-pool', 'for a connection of a pool'],
      [network, 'threads-wait-for-network', 'for an answer from the network'],
    ] as const) {
      const waiting = threads.filter((thread) => isWaiting(thread, pattern));
      if (waiting.length < 4 || waiting.length * 2 <= threads.length) continue;
      const [first] = waiting;
      if (first === undefined) continue;
      this.#sink.message({
        program: 'threads',
        atMs: this.#atMs,
        code,
        subject: name,
        text: `${waiting.length} of ${threads.length} threads of ${name} wait ${what}, most in ${commonest(waiting.map(topOf))}, called from ${commonest(waiting.map(ownOf))}`,
        line: first.line,
      });
      return;
    }
  }
}

function isWaiting(thread: Thread, pattern: RegExp): boolean {
  return pattern.test(thread.state) || thread.frames.slice(0, 25).some((frame) => pattern.test(frame));
}

function topOf(thread: Thread): string {
  return thread.frames[0] ?? '';
}

/** The first frame that belongs to no library: who wanted it. */
function ownOf(thread: Thread): string {
  return thread.frames.find((frame) => !libraries.test(frame)) ?? '';
}

function commonest(words: readonly string[]): string {
  const groups = [...Map.groupBy(words, (word) => word)].toSorted(([, one], [, two]) => two.length - one.length);
  return groups[0]?.[0] ?? '';
}
