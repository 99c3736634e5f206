// A few lines of a program, as a person pastes them: how it listens, how long it keeps connections, how large its pools are.
//
//   app.listen(8080)                              Node: a backlog of 511, and 5 s of keep-alive unless set
//   server.keepAliveTimeout = 65_000
//   const pool = new Pool({ max: 10, connectionTimeoutMillis: 2000 })
//   http.ListenAndServe(":8080", mux)             Go: the backlog is somaxconn
//
// No program is understood here; only these calls are, in the spelling that everybody uses. What binds because a call leaves
// it out is implied, at the line of the call.

import type { SettingKey } from '../../../record.ts';
import { type WholeFormat } from '../format.ts';
import { parseNumber, parseSeconds } from '../quantities.ts';
import { settingOf } from '../setting-words.ts';
import type { Sink } from '../sink.ts';

const nodeListen = /(\w+)\.listen\(\s*([^)]*?)\s*(?:,\s*(?:\(\)|function|async|\w+\s*=>).*)?\)?\s*(?:=>.*)?;?\s*$/;
const assigned =
  /\.(keepAliveTimeout|headersTimeout|requestTimeout|timeout|maxRequestsPerSocket|maxConnections)\s*=\s*([\d_.*\s]+)/;
const option =
  /\b([a-z]\w*(?:[Tt]imeout|Timeouts?|Millis|Conns?|Connections|Sockets|Backlog|backlog|poolSize|PoolSize|pool_size|keepAlive|KeepAlive|retries|Retries|workers|Workers|threads|Threads)\w*)\s*[:=]\s*([\d_.*]+(?:\s*\*\s*[\d_.]+)*|true|false|time\.\w+(?:\s*\*\s*\d+)?|\d+\s*\*\s*time\.\w+)/g;
const goListen = /\bhttp\.ListenAndServe(?:TLS)?\(/;
const goOption =
  /\b(ReadTimeout|WriteTimeout|IdleTimeout|ReadHeaderTimeout|MaxIdleConnsPerHost|MaxConnsPerHost|Timeout|SetMaxOpenConns|SetMaxIdleConns|SetConnMaxLifetime)\s*[:(=]\s*([\w.*\s]+?)[,)}\n]/g;
const pythonListen = /\.listen\(\s*(\d+)?\s*\)/;
const poolMax = /\bnew (?:\w+\.)?Pool\(\s*\{[^}]*?\bmax:\s*(\d+)/;
const code = /[;{}()]|=>|^\s*(?:import|const|let|var|func|def|from|package|public|private|return)\b/;

export const programSource: WholeFormat = {
  kind: 'whole',
  name: 'program source',
  recognise(head) {
    const lines = head.split('\n').filter((line) => line.trim() !== '');
    if (lines.length === 0 || /^\s*[[{<]/.test(lines[0] ?? '')) return 0;
    const share = lines.filter((line) => code.test(line)).length / lines.length;
    const called =
      /\b\w+\.listen\(|\bhttp\.ListenAndServe|\bcreateServer\(|\bnew (?:\w+\.)?Pool\(|keepAliveTimeout\s*=|\bhttp\.Server\{|SetMaxOpenConns\(/.test(
        head,
      );
    return called && share > 0.4 ? 0.5 + 0.3 * share : 0;
  },
  read(text, sink) {
    const language = languageOf(text);
    const source = new Source(sink, language, text);
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      source.line(line, index + 1);
      // Nothing in a program is a line that should have been understood.
      sink.understood();
    }
    source.end();
  },
};

const lineMax = 1000;

type Language = 'node' | 'go' | 'python' | 'program';

function languageOf(text: string): Language {
  if (/\bhttp\.ListenAndServe|^package \w+|\bfunc \w*\(|:=/m.test(text)) return 'go';
  if (/^\s*(?:def|from \w+ import|import \w+$)|:\s*$/m.test(text)) return 'python';
  return /\b(?:app|server|\w+)\.listen\(|\brequire\(|=>|\bconst\b/.test(text) ? 'node' : 'program';
}

class Source {
  readonly #sink: Sink;
  readonly #language: Language;
  readonly #keepsAlive: boolean;
  #listens: number | undefined;

  constructor(sink: Sink, language: Language, text: string) {
    this.#sink = sink;
    this.#language = language;
    this.#keepsAlive = /keepAliveTimeout/.test(text);
  }

  line(text: string, line: number): void {
    // Nobody writes lines like that; minified code is not read.
    if (text.length > lineMax) return;
    if (this.#language === 'node') this.#node(text, line);
    if (this.#language === 'go') this.#go(text, line);
    if (this.#language === 'python') {
      const listened = pythonListen.exec(text);
      if (listened?.[1] !== undefined) this.#write('listen.backlog', Number(listened[1]), line);
    }
    if (this.#language !== 'go') this.#options(text, line);
  }

  #node(text: string, line: number): void {
    const listened = nodeListen.exec(text);
    if (listened !== null && !/router|emitter|socket/i.test(listened[1] ?? '')) {
      this.#listens ??= line;
      // port, host, backlog: the first number behind the port that is not a name.
      const given = (listened[2] ?? '').split(',').map((part) => part.trim());
      const backlog = /\bbacklog:\s*(\d+)/.exec(text)?.[1] ?? given.slice(1).find((part) => /^\d+$/.test(part));
      if (backlog === undefined) this.#write('listen.backlog', 511, line, true);
      else this.#write('listen.backlog', Number(backlog), line);
    }
    const found = assigned.exec(text);
    if (found !== null) {
      const key = nodeKeys[found[1] ?? ''];
      const value = product(found[2] ?? '');
      if (key !== undefined && value !== undefined)
        this.#write(key, /[Tt]imeout/.test(found[1] ?? '') ? value / 1000 : value, line);
    }
    const pool = poolMax.exec(text);
    if (pool !== null) this.#write('pool.size', Number(pool[1]), line);
    const wait = /\bnew (?:\w+\.)?Pool\(.*?\b(?:connectionTimeoutMillis|acquireTimeoutMillis):\s*([\d_]+)/.exec(
      text,
    )?.[1];
    const acquire = wait === undefined ? undefined : product(wait);
    if (acquire !== undefined)
      this.#write('pool.acquire-timeout', acquire === 0 ? Number.POSITIVE_INFINITY : acquire / 1000, line);
  }

  #go(text: string, line: number): void {
    if (goListen.test(text)) this.#listens ??= line;
    for (const [, name = '', written = ''] of text.matchAll(goOption)) {
      const key = goKeys[name];
      const value = goDuration(written) ?? parseNumber(written.trim());
      if (key !== undefined && value !== undefined) this.#write(key, value, line);
    }
  }

  #options(text: string, line: number): void {
    // What a pool is told of its connections is said of nothing else.
    const rest = poolMax.test(text) ? '' : text;
    for (const [, name = '', written = ''] of rest.matchAll(option)) {
      if (text.includes(`.${name}`) && assigned.test(text)) continue;
      const value = /^(?:true|false)$/.test(written) ? written === 'true' : product(written);
      const found = value === undefined ? undefined : settingOf(name, value, 'environment');
      if (found !== undefined) this.#write(found.key, found.value, line);
    }
  }

  end(): void {
    if (this.#listens === undefined) return;
    if (this.#language === 'node' && !this.#keepsAlive)
      this.#write('downstream.keepalive-timeout', 5, this.#listens, true);
  }

  #write(key: SettingKey, value: number | string | boolean, line: number, implied = false): void {
    this.#sink.setting({
      program: this.#language,
      scope: this.#sink.file.replace(/^.*[/\\]/, ''),
      key,
      value,
      implied,
      line,
    });
  }
}

const nodeKeys: Readonly<Record<string, SettingKey>> = {
  keepAliveTimeout: 'downstream.keepalive-timeout',
  headersTimeout: 'downstream.header-timeout',
  requestTimeout: 'downstream.request-timeout',
  maxRequestsPerSocket: 'downstream.keepalive-requests',
  maxConnections: 'downstream.max-connections',
};

const goKeys: Readonly<Record<string, SettingKey>> = {
  IdleTimeout: 'downstream.idle-timeout',
  ReadHeaderTimeout: 'downstream.header-timeout',
  Timeout: 'dependency.timeout',
  MaxIdleConnsPerHost: 'upstream.keepalive-connections',
  SetMaxOpenConns: 'pool.size',
  SetMaxIdleConns: 'pool.min-idle',
  SetConnMaxLifetime: 'upstream.connection-lifetime',
};

/** `65_000`, `60 * 1000`. */
function product(text: string): number | undefined {
  const factors = text
    .replaceAll('_', '')
    .split('*')
    .map((part) => parseNumber(part.trim()));
  return factors.reduce<number | undefined>(
    (total, factor) => (total === undefined || factor === undefined ? undefined : total * factor),
    1,
  );
}

/** `30 * time.Second`, `time.Minute`. */
function goDuration(text: string): number | undefined {
  const found =
    /^\s*(?:(\d+)\s*\*\s*)?time\.(Nanosecond|Microsecond|Millisecond|Second|Minute|Hour)(?:\s*\*\s*(\d+))?\s*$/.exec(
      text,
    );
  if (found === null) return undefined;
  const unit = { Nanosecond: '1ns', Microsecond: '1us', Millisecond: '1ms', Second: '1s', Minute: '1m', Hour: '1h' }[
    found[2] ?? ''
  ];
  const one = parseSeconds(unit);
  return one === undefined ? undefined : one * Number(found[1] ?? found[3] ?? 1);
}
