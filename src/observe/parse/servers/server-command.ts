// The command line by which an application server was started, wherever somebody wrote it: in a shell, a Procfile, a Dockerfile,
// a manifest's `command` and `args`.
//
//   web: gunicorn app:app --workers 4 --worker-class gthread --threads 8 --keep-alive 5
//   CMD ["uvicorn", "app:app", "--workers", "2", "--timeout-keep-alive", "5"]
//
// Defaults of uvicorn: one worker, 5 s of keep-alive, a backlog of 2048. Of hypercorn: 5 s and 100.

import type { WholeFormat } from '../format.ts';
import { firstLines } from '../format.ts';
import type { Sink } from '../sink.ts';
import { writeGunicorn } from './gunicorn.ts';
import { writePuma } from './puma.ts';
import { baseName, type Directive, type ServerRule, writeRules } from './server-rules.ts';

export const serverCommand: WholeFormat = {
  kind: 'whole',
  name: 'command of a server',
  early: true,
  recognise(head) {
    const lines = firstLines(head, 60);
    const commands = lines.filter((line) => commandIn(wordsIn(line)) !== undefined).length;
    if (commands === 0 || lines.length >= 60) return 0;
    const docker = /^\s*FROM\s+\S+/m.test(head) && /^\s*(?:CMD|ENTRYPOINT|RUN|COPY)\b/m.test(head);
    return docker ? 0.95 : commands * 3 >= lines.length ? 0.88 : 0;
  },
  read(text, sink) {
    const joined = text.replaceAll(/\\\n/g, '  ');
    for (const [index, line] of joined.split('\n').entries()) {
      if (line.trim() === '') continue;
      writeServerCommand(sink, baseName(sink.file), wordsIn(line), index + 1);
      sink.understood();
    }
  },
};

/** Words of a shell line, or of a list in JSON. */
function wordsIn(line: string): string[] {
  if (line.length > 4000 || /^\s*#/.test(line)) return [];
  return [...line.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|([^\s,[\]]+)/g)].map(
    (found) => found[1] ?? found[2] ?? found[3] ?? '',
  );
}

interface Command {
  readonly program: 'gunicorn' | 'uvicorn' | 'hypercorn' | 'puma';
  readonly words: readonly string[];
}

const before =
  /^(?:CMD|ENTRYPOINT|RUN|exec|sudo|nice|env|bundle|poetry|uv|pipenv|run|python3?|-m|\$|>|-c|sh|bash|\/bin\/sh|dumb-init|tini|--|[\w-]+:|[A-Z_]+=.*)$/;

/** The server that these words start; undefined when they start none. */
function commandIn(words: readonly string[]): Command | undefined {
  const at = words.findIndex((word) => !before.test(word));
  const [first = '', ...rest] = words.slice(at === -1 ? words.length : at);
  // A shell was handed the whole line as one word.
  if (first.includes(' ') && rest.length === 0) return commandIn(wordsIn(first));
  const program = first.replace(/^.*\//, '');
  if (program !== 'gunicorn' && program !== 'uvicorn' && program !== 'hypercorn' && program !== 'puma')
    return undefined;
  return rest.some((word) => word.startsWith('-') || word.includes(':')) ? { program, words: rest } : undefined;
}

const short: Readonly<Record<string, string>> = {
  w: 'workers',
  k: 'worker_class',
  t: 'timeout',
  b: 'bind',
  c: 'config',
};

const uvicornRules: readonly ServerRule[] = [
  { names: ['workers'], key: 'workers.processes', kind: 'count', otherwise: 1 },
  { names: ['timeout_keep_alive'], key: 'downstream.keepalive-timeout', kind: 'seconds', otherwise: 5 },
  { names: ['backlog'], key: 'listen.backlog', kind: 'count', otherwise: 2048 },
  { names: ['limit_concurrency'], key: 'workers.count', kind: 'count' },
];
const hypercornRules: readonly ServerRule[] = [
  { names: ['workers'], key: 'workers.processes', kind: 'count', otherwise: 1 },
  { names: ['keep_alive'], key: 'downstream.keepalive-timeout', kind: 'seconds', otherwise: 5 },
  { names: ['backlog'], key: 'listen.backlog', kind: 'count', otherwise: 100 },
];

/** Writes what a command says of the server it starts, and whether it starts one that is known. */
export function writeServerCommand(
  sink: Sink,
  scope: string,
  words: readonly string[],
  line: number | undefined,
): boolean {
  const command = commandIn(words);
  if (command === undefined) return false;
  const found = new Map<string, Directive>([['command', { text: command.program, line: line ?? 1 }]]);
  for (let at = 0; at < command.words.length; at++) {
    const [, flag, joined] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/.exec(command.words[at] ?? '') ?? [];
    if (flag === undefined) continue;
    const letter = command.program === 'puma' && flag === 't' ? 'threads' : short[flag];
    const text = joined ?? command.words[at + 1] ?? '';
    found.set((letter ?? flag).replaceAll('-', '_'), { text, line: line ?? 1 });
  }
  const where = { program: command.program, scope };
  if (command.program === 'gunicorn') writeGunicorn(sink, scope, found);
  else if (command.program === 'puma') writePuma(sink, scope, found);
  else writeRules(sink, where, command.program === 'uvicorn' ? uvicornRules : hypercornRules, found);
  return true;
}
