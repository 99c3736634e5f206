// A curl command as browsers copy it ("Copy as cURL"): the words of a POSIX shell, then the flags that say what is asked. Flags
// about how curl works (`-s`, `--compressed`, `-o FILE`) change nothing about the request and are passed over; a flag that we
// do not know is a problem, because it may have a value that would be taken for the address.

import { type Source, type SourceProblem, type SourceRequest, splitUrl, stepOf } from './source.ts';

export function readCurl(text: string): Source {
  const requests: SourceRequest[] = [];
  const problems: SourceProblem[] = [];
  for (const command of commandsOf(text)) {
    const words = shellWords(command.text);
    const found = words === undefined ? 'a quote is not closed' : requestOf(words.slice(1));
    if (typeof found === 'string') problems.push({ line: command.line, message: found });
    else requests.push(found);
  }
  return { format: 'curl', requests, problems };
}

/** Commands begin with `curl` at the beginning of a line; a backslash at the end of a line, or an open quote, goes on. */
function commandsOf(text: string): readonly { readonly line: number; readonly text: string }[] {
  const commands: { line: number; text: string }[] = [];
  text.split('\n').forEach((line, index) => {
    if (/^\s*(\$\s*)?curl\s/.test(line)) commands.push({ line: index + 1, text: line.replace(/^\s*(\$\s*)?/, '') });
    else if (commands.length > 0) {
      const last = commands[commands.length - 1];
      if (last !== undefined) last.text += `\n${line}`;
    }
  });
  return commands;
}

/** The words of a command line, with ' " \ and $'…' as a shell has them; undefined when a quote stays open. */
export function shellWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at);
    const blank = /^(?:\s|\\\r?\n)+/.exec(rest);
    if (blank !== null) {
      if (word !== undefined) words.push(word);
      word = undefined;
      at += blank[0].length;
      continue;
    }
    const piece = pieceAt(rest);
    if (piece === undefined) return undefined;
    word = (word ?? '') + piece.text;
    at += piece.length;
  }
  if (word !== undefined) words.push(word);
  return words;
}

function pieceAt(rest: string): { readonly text: string; readonly length: number } | undefined {
  const single = /^'([^']*)'/.exec(rest);
  if (single !== null) return { text: single[1] ?? '', length: single[0].length };
  const ansi = /^\$'((?:[^'\\]|\\[^])*)'/.exec(rest);
  if (ansi !== null) return { text: unescape(ansi[1] ?? ''), length: ansi[0].length };
  const double = /^"((?:[^"\\]|\\[^])*)"/.exec(rest);
  if (double !== null) return { text: (double[1] ?? '').replaceAll(/\\(["\\$`\n])/g, '$1'), length: double[0].length };
  if (/^(['"]|\$')/.test(rest)) return undefined;
  const escaped = /^\\([^])/.exec(rest);
  if (escaped !== null) return { text: escaped[1] ?? '', length: 2 };
  const bare = /^[^\s'"\\]/.exec(rest);
  return bare === null ? undefined : { text: bare[0], length: 1 };
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', "'": "'", '"': '"', '\\': '\\' };

const unescape = (text: string): string =>
  text.replaceAll(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([^]))/g,
    (_, hex?: string, unicode?: string, other?: string) =>
      hex !== undefined || unicode !== undefined
        ? String.fromCharCode(Number.parseInt(hex ?? unicode ?? '0', 16))
        : (escapes[other ?? ''] ?? other ?? ''),
  );

type Takes =
  | 'method'
  | 'header'
  | 'data'
  | 'json'
  | 'agent'
  | 'referer'
  | 'cookie'
  | 'user'
  | 'url'
  | 'head'
  | 'get'
  | 'nothing'
  | 'value';

/** What each flag takes; a `value` is taken and passed over. */
const flagTable: readonly (readonly [Takes, string])[] = [
  ['method', '-X --request'],
  ['header', '-H --header'],
  ['data', '-d --data --data-raw --data-ascii --data-binary'],
  ['json', '--json'],
  ['agent', '-A --user-agent'],
  ['referer', '-e --referer'],
  ['cookie', '-b --cookie'],
  ['user', '-u --user'],
  ['url', '--url'],
  ['head', '-I --head'],
  ['get', '-G --get'],
  ['nothing', '-s --silent -S --show-error -k --insecure -L --location -i --include -v --verbose -f --fail'],
  ['nothing', '--compressed --http1.1 --http2'],
  ['value', '-o --output -m --max-time --connect-timeout -w --write-out'],
];

const takes: ReadonlyMap<string, Takes> = new Map(
  flagTable.flatMap(([what, flags]) => flags.split(' ').map((flag): [string, Takes] => [flag, what])),
);

const takesNoValue = (what: Takes): boolean => what === 'nothing' || what === 'head' || what === 'get';

function requestOf(words: readonly string[]): SourceRequest | string {
  const said: { method?: string; url?: string; head?: boolean; get?: boolean } = {};
  const headers: [string, string][] = [];
  const data: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith('-') || word === '-') {
      if (said.url !== undefined) return `two addresses: ${said.url} and ${word}; expected one`;
      said.url = word;
      continue;
    }
    const [flag, inline] = flagOf(word);
    const what = takes.get(flag);
    if (what === undefined) return `unknown flag ${flag}: it may have a value, so what follows cannot be read`;
    if (takesNoValue(what)) {
      if (what === 'head') said.head = true;
      if (what === 'get') said.get = true;
      // `-sS` is `-s -S`.
      if (flag !== word) rest.unshift(`-${word.slice(flag.length)}`);
      continue;
    }
    const value = inline ?? rest.shift();
    if (value === undefined) return `${flag} has no value`;
    const problem = take(what, value, said, headers, data);
    if (problem !== undefined) return problem;
  }
  return assembled(said, headers, data);
}

/** `-XPOST` and `--request=POST` carry their value with them; `-sS` is a flag and more flags. */
function flagOf(word: string): readonly [string, string | undefined] {
  if (word.startsWith('--')) {
    const equals = word.indexOf('=');
    return equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
  }
  const flag = word.slice(0, 2);
  const what = takes.get(flag);
  return [flag, word.length > 2 && what !== undefined && !takesNoValue(what) ? word.slice(2) : undefined];
}

function take(
  what: Takes,
  value: string,
  said: { method?: string; url?: string },
  headers: [string, string][],
  data: string[],
): string | undefined {
  switch (what) {
    case 'method':
      said.method = value;
      return undefined;
    case 'url':
      said.url = value;
      return undefined;
    case 'header': {
      const colon = value.indexOf(':');
      if (colon > 0) headers.push([value.slice(0, colon).trim(), value.slice(colon + 1).trim()]);
      return undefined;
    }
    case 'json':
      headers.push(['Content-Type', 'application/json'], ['Accept', 'application/json']);
      data.push(value);
      return undefined;
    case 'data':
      if (value.startsWith('@')) return `the body is in the file ${value.slice(1)}: put it into the command`;
      data.push(value);
      return undefined;
    case 'agent':
      headers.push(['User-Agent', value]);
      return undefined;
    case 'referer':
      headers.push(['Referer', value]);
      return undefined;
    case 'cookie':
      headers.push(['Cookie', value]);
      return undefined;
    case 'user':
      headers.push(['Authorization', `Basic ${btoa(value)}`]);
      return undefined;
    case 'head':
    case 'get':
    case 'nothing':
    case 'value':
      return undefined;
  }
}

function assembled(
  said: { readonly method?: string; readonly url?: string; readonly head?: boolean; readonly get?: boolean },
  headers: [string, string][],
  data: readonly string[],
): SourceRequest | string {
  if (said.url === undefined) return 'there is no address';
  const url = splitUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(said.url) ? said.url : `http://${said.url}`);
  if (url === undefined) return `${said.url} is no address; expected one such as http://127.0.0.1:8080/path`;
  const text = data.length === 0 ? undefined : data.join('&');
  const inQuery = said.get === true && text !== undefined;
  const body = inQuery ? undefined : text;
  const path = inQuery ? `${url.path}${url.path.includes('?') ? '&' : '?'}${text}` : url.path;
  const isForm = body !== undefined && !headers.some(([name]) => name.toLowerCase() === 'content-type');
  if (isForm) headers.push(['Content-Type', 'application/x-www-form-urlencoded']);
  const method = said.method ?? (said.head === true ? 'HEAD' : body === undefined ? 'GET' : 'POST');
  return { origin: url.origin, step: stepOf(method, path, headers, body), at: undefined };
}
