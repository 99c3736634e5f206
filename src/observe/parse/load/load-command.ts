// The command line by which a load generator was started, as a person pastes it from a shell.
//
//   $ wrk -t4 -c100 -d30s http://shop.example/
//   echo "GET http://shop.example/" | vegeta attack -rate=500/1s -duration=60s -keepalive=false | vegeta report
//
// Only the flags that decide how much is asked, for how long and over which connections are read.

import type { SettingKey } from '../../../record.ts';
import { firstLines, type WholeFormat } from '../format.ts';
import { parseNumber, parseSeconds } from '../quantities.ts';
import type { Sink } from '../sink.ts';
import { countOf } from './draft.ts';

type Kind = 'count' | 'seconds' | 'rate' | 'on' | 'off' | 'truth';

interface Tool {
  readonly name: string;
  /** What follows the program's name, where it must. */
  readonly command?: string;
  readonly model: 'closed' | 'open';
  readonly flags: Readonly<Record<string, readonly [SettingKey, Kind]>>;
}

const wrkFlags = {
  t: ['load.threads', 'count'],
  threads: ['load.threads', 'count'],
  c: ['load.connections', 'count'],
  connections: ['load.connections', 'count'],
  d: ['load.seconds', 'seconds'],
  duration: ['load.seconds', 'seconds'],
  R: ['load.rate', 'count'],
  rate: ['load.rate', 'count'],
} as const;

const tools: readonly Tool[] = [
  { name: 'wrk', model: 'closed', flags: wrkFlags },
  { name: 'wrk2', model: 'open', flags: wrkFlags },
  ...['hey', 'oha'].map((name): Tool => ({
    name,
    model: 'closed',
    flags: {
      c: ['load.connections', 'count'],
      z: ['load.seconds', 'seconds'],
      q: ['load.rate', 'count'],
      h2: ['load.http2', 'on'],
      http2: ['load.http2', 'on'],
      'disable-keepalive': ['load.reuses-connections', 'off'],
    },
  })),
  {
    name: 'vegeta',
    command: 'attack',
    model: 'open',
    flags: {
      rate: ['load.rate', 'rate'],
      duration: ['load.seconds', 'seconds'],
      connections: ['load.connections', 'count'],
      'max-connections': ['load.connections', 'count'],
      'max-workers': ['load.users-max', 'count'],
      workers: ['load.users', 'count'],
      keepalive: ['load.reuses-connections', 'truth'],
      http2: ['load.http2', 'truth'],
    },
  },
  {
    name: 'ab',
    model: 'closed',
    flags: { c: ['load.connections', 'count'], t: ['load.seconds', 'seconds'], k: ['load.reuses-connections', 'on'] },
  },
  {
    name: 'h2load',
    model: 'closed',
    flags: {
      c: ['load.connections', 'count'],
      clients: ['load.connections', 'count'],
      t: ['load.threads', 'count'],
      D: ['load.seconds', 'seconds'],
      duration: ['load.seconds', 'seconds'],
      rps: ['load.rate', 'count'],
    },
  },
  {
    name: 'autocannon',
    model: 'closed',
    flags: {
      c: ['load.connections', 'count'],
      connections: ['load.connections', 'count'],
      d: ['load.seconds', 'seconds'],
      duration: ['load.seconds', 'seconds'],
      R: ['load.rate', 'count'],
      overallRate: ['load.rate', 'count'],
      w: ['load.threads', 'count'],
      workers: ['load.threads', 'count'],
    },
  },
  {
    name: 'k6',
    command: 'run',
    model: 'closed',
    flags: {
      u: ['load.users', 'count'],
      vus: ['load.users', 'count'],
      d: ['load.seconds', 'seconds'],
      duration: ['load.seconds', 'seconds'],
      rps: ['load.rate', 'count'],
      'no-connection-reuse': ['load.reuses-connections', 'off'],
      'no-vu-connection-reuse': ['load.reuses-connections', 'off'],
    },
  },
  {
    name: 'fortio',
    command: 'load',
    model: 'open',
    flags: {
      qps: ['load.rate', 'count'],
      c: ['load.connections', 'count'],
      t: ['load.seconds', 'seconds'],
      h2: ['load.http2', 'on'],
    },
  },
  {
    name: 'ghz',
    model: 'closed',
    flags: {
      c: ['load.users', 'count'],
      concurrency: ['load.users', 'count'],
      connections: ['load.connections', 'count'],
      z: ['load.seconds', 'seconds'],
      duration: ['load.seconds', 'seconds'],
      r: ['load.rate', 'count'],
      rps: ['load.rate', 'count'],
    },
  },
  {
    name: 'siege',
    model: 'closed',
    flags: {
      c: ['load.users', 'count'],
      concurrent: ['load.users', 'count'],
      d: ['load.think-time', 'seconds'],
      t: ['load.seconds', 'seconds'],
    },
  },
  {
    name: 'bombardier',
    model: 'closed',
    flags: {
      c: ['load.connections', 'count'],
      connections: ['load.connections', 'count'],
      d: ['load.seconds', 'seconds'],
      duration: ['load.seconds', 'seconds'],
      r: ['load.rate', 'count'],
      rate: ['load.rate', 'count'],
    },
  },
  {
    name: 'locust',
    model: 'closed',
    flags: {
      u: ['load.users', 'count'],
      users: ['load.users', 'count'],
      t: ['load.seconds', 'seconds'],
      'run-time': ['load.seconds', 'seconds'],
    },
  },
];
/** Flags written without a value. */
const bare = new Set<Kind>(['on', 'off']);

export const loadCommand: WholeFormat = {
  kind: 'whole',
  name: 'command of a load generator',
  recognise(head) {
    const lines = firstLines(head, 20);
    return lines.length < 20 && lines.some((line) => commandIn(line) !== undefined) ? 0.85 : 0;
  },
  read(text, sink) {
    // A backslash at the end goes on in the next line.
    const joined = text.replaceAll(/\\\n\s*/g, ' ');
    for (const [index, line] of joined.split('\n').entries()) {
      if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
      const found = commandIn(line);
      if (found === undefined) sink.foreign(index + 1, line);
      else {
        readCommand(found, index + 1, sink);
        sink.understood();
      }
    }
  },
};

interface Command {
  readonly tool: Tool;
  readonly words: readonly string[];
}

/** The part of a pipe that starts a load generator. */
function commandIn(line: string): Command | undefined {
  if (line.length > 4000) return undefined;
  for (const part of line.split(/\s*(?:\||&&|;)\s*/)) {
    const words = wordsIn(part).filter((word, index) => !(index === 0 && /^[$#>%]$/.test(word)));
    const at = words.findIndex(
      (word) => !/^[A-Z_][A-Z0-9_]*=|^(?:time|sudo|nice|taskset|docker|numactl|exec)$/.test(word),
    );
    const program = (words[at] ?? '').replace(/^.*\//, '');
    const tool = tools.find((one) => one.name === program);
    const rest = words.slice(at + 1);
    if (tool === undefined || rest.length === 0) continue;
    if (tool.command !== undefined && !rest.includes(tool.command)) continue;
    // A sentence that begins with such a word is no command.
    if (tool.command === undefined && !rest.some((word) => word.startsWith('-') || /^https?:/.test(word))) continue;
    return { tool, words: rest };
  }
  return undefined;
}

function wordsIn(part: string): string[] {
  return [...part.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|(\S+)/g)].map(
    (found) => found[1] ?? found[2] ?? found[3] ?? '',
  );
}

function readCommand({ tool, words }: Command, line: number, sink: Sink): void {
  const scope = sink.file.replace(/^.*[/\\]/, '').replace(/\.[^.]*$/, '');
  const where = { program: 'load-generator', scope, line };
  const found = new Map<SettingKey, number | boolean>();
  for (let at = 0; at < words.length; at++) {
    const flag = flagOf(words[at] ?? '', tool);
    if (flag === undefined) continue;
    const [key, kind] = flag.setting;
    if (flag.value === undefined && !bare.has(kind)) at += 1;
    const value = valueOf(kind, flag.value ?? words[at]);
    if (value !== undefined) found.set(key, value);
  }
  const rated = found.has('load.rate');
  const name = tool.name === 'wrk' && rated ? 'wrk2' : tool.name;
  sink.setting({ ...where, key: 'load.tool', value: name });
  const open = tool.model === 'open' || name === 'wrk2';
  sink.setting({ ...where, key: 'load.model', value: open ? 'open' : 'closed', implied: true });
  for (const [key, value] of found) sink.setting({ ...where, key, value });
  // ghz speaks gRPC, over one connection unless told otherwise.
  if (tool.name === 'ghz') {
    sink.setting({ ...where, key: 'load.http2', value: true, implied: true });
    if (!found.has('load.connections')) sink.setting({ ...where, key: 'load.connections', value: 1, implied: true });
  }
  // ab opens a connection for each request unless told not to.
  if (tool.name === 'ab' && !found.has('load.reuses-connections')) {
    sink.setting({ ...where, key: 'load.reuses-connections', value: false, implied: true });
  }
}

interface Flag {
  readonly setting: readonly [SettingKey, Kind];
  readonly value: string | undefined;
}

/** `-c100`, `-c 100`, `--connections=100`, `-rate=500/1s`. */
function flagOf(word: string, tool: Tool): Flag | undefined {
  const long = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/.exec(word);
  const named = tool.flags[long?.[1] ?? ''];
  if (named !== undefined) return { setting: named, value: long?.[2] };
  const short = /^-([A-Za-z])(\d\S*)$/.exec(word);
  const lettered = tool.flags[short?.[1] ?? ''];
  return lettered === undefined ? undefined : { setting: lettered, value: short?.[2] };
}

function valueOf(kind: Kind, text: string | undefined): number | boolean | undefined {
  switch (kind) {
    case 'count':
      return countOf(text);
    case 'seconds':
      return parseSeconds(text);
    case 'rate': {
      // `500/1s`, `500/s`, `500`; 0 is as fast as it goes.
      const [count, unit = '1s'] = (text ?? '').split('/');
      const seconds = parseSeconds(/^\d/.test(unit) ? unit : `1${unit}`);
      const number = parseNumber(count);
      return number === undefined || number === 0 || seconds === undefined ? undefined : number / seconds;
    }
    case 'on':
      return true;
    case 'off':
      return false;
    case 'truth':
      return text === undefined ? true : text !== 'false' && text !== '0';
  }
}
