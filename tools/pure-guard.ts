// The third net under the pure rooms: while one of their tests runs, the clock, the timers, chance and the network throw
// when a pure room asks for them. Preloaded into every test process (`node --import`); does nothing in the others.
//
// Who asks is read from the stack: of the frames that lie in src/, the innermost decides. If it is product code of a pure
// room, the call throws, also when it went through a library; if it is the test itself, the call goes through, because a
// test may print a duration and the random tests draw their seed from the clock. Node's own internals kept the originals
// before this ran and notice nothing.

import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getCallSites } from 'node:util';
import { isPure, testsPure } from './rooms.ts';

// The working folder is the top of the tree: check.ts sees to it, and so does a test that plants one.
const root = process.cwd();

function pathInTree(file: string): string {
  return relative(root, file.startsWith('file:') ? fileURLToPath(file) : file).replaceAll('\\', '/');
}

/** The innermost caller in src/, if it is one that must be pure. */
function pureCaller(): string | undefined {
  for (const { scriptName, lineNumber } of getCallSites(200)) {
    const path = pathInTree(scriptName);
    if (path.startsWith('src/')) return isPure(path) ? `${path}:${lineNumber}` : undefined;
  }
  return undefined;
}

function refuse(what: string): void {
  const caller = pureCaller();
  if (caller === undefined) return;
  throw new Error(`${caller} is pure and asks the world: ${what}. Take time, chance or the answer as an argument.`);
}

/** Puts a guard before a function that is a property of `owner`. One that is not there needs no guard. */
function guard(owner: object, name: string, what: string): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') return;
  const guarded = new Proxy(original, {
    apply(target, self, words): unknown {
      refuse(what);
      return Reflect.apply(target, self, words);
    },
  });
  Object.defineProperty(owner, name, { configurable: true, writable: true, value: guarded });
}

/** `Date()` and `new Date()` read the clock; `new Date(0)` only formats. */
function guardDate(): void {
  guard(Date, 'now', 'Date.now()');
  guard(globalThis, 'Date', 'Date()');
  globalThis.Date = new Proxy(Date, {
    construct(target, words, newTarget): object {
      if (words.length === 0) refuse('new Date()');
      return Reflect.construct(target, words, newTarget) as object;
    },
  });
}

function guardAll(): void {
  guardDate();
  for (const timer of ['setTimeout', 'setInterval', 'setImmediate', 'fetch']) guard(globalThis, timer, `${timer}()`);
  guard(performance, 'now', 'performance.now()');
  guard(Math, 'random', 'Math.random()');
  for (const draw of ['getRandomValues', 'randomUUID']) guard(crypto, draw, `crypto.${draw}()`);
  for (const reading of ['hrtime', 'uptime', 'cpuUsage', 'nextTick']) guard(process, reading, `process.${reading}()`);
  guard(process.hrtime, 'bigint', 'process.hrtime.bigint()');
  for (const reading of ['instant', 'plainDateISO', 'plainDateTimeISO', 'plainTimeISO', 'zonedDateTimeISO']) {
    guard(Temporal.Now, reading, `Temporal.Now.${reading}()`);
  }
}

if (process.argv[1] !== undefined && testsPure(pathInTree(process.argv[1]))) guardAll();
