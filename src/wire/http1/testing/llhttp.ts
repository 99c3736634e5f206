// llhttp, the parser inside Node, told to tell its story in the words of the fuzzer. It is reached through `_http_common`,
// an inner module that nobody promises to keep: for the fuzzer only, never for the wire itself.

import { createRequire } from 'node:module';

/** The messages that were completed, one line each, and why there was no more; undefined when all bytes were read. */
export interface Story {
  readonly messages: readonly string[];
  readonly refusal: string | undefined;
  /** Where it stopped; of interest for llhttp only. */
  readonly stopped: number;
}

export function llhttpRequests(bytes: Uint8Array): Story {
  return tell(bytes, common.HTTPParser['REQUEST'] ?? 1, (message) => {
    const method = common.methods[message.method] ?? '';
    return `${method} ${message.url} 1.${message.minor}${persistence(message)}${message.upgrade ? ' other' : ''}`;
  });
}

export function llhttpResponses(bytes: Uint8Array, expected: readonly string[]): Story {
  return tell(
    bytes,
    common.HTTPParser['RESPONSE'] ?? 2,
    (message) => {
      if (message.status < 200) return `${message.status} ${message.reason} interim`;
      return `${message.status} ${message.reason} 1.${message.minor}${persistence(message)}`;
    },
    expected,
  );
}

interface Message {
  minor: number;
  method: number;
  url: string;
  status: number;
  reason: string;
  upgrade: boolean;
  keepAlive: boolean;
  /** The method that a response answers. */
  request: string | undefined;
}

function persistence(message: Message): string {
  if (message.request === 'HEAD' || message.minor === 0) return '';
  return message.keepAlive ? ' keep' : ' close';
}

function tell(
  bytes: Uint8Array,
  kind: number,
  line: (message: Message) => string,
  expected?: readonly string[],
): Story {
  const messages: string[] = [];
  let message: Message | undefined;
  let body = '';
  let url = '';
  let answered = 0;
  let unsolicited = false;
  const parser = new common.HTTPParser();
  parser.initialize(kind, {});
  parser[callback.messageBegin] = () => {
    url = '';
    body = '';
    return undefined;
  };
  // Called before the head is complete when there are many fields; then the address comes here.
  parser[callback.headers] = (_fields, part) => {
    if (typeof part === 'string') url += part;
    return undefined;
  };
  parser[callback.headersComplete] = (_major, minor, _fields, method, address, status, reason, upgrade, keepAlive) => {
    message = {
      minor: Number(minor),
      method: Number(method),
      url: url + (typeof address === 'string' ? address : ''),
      status: Number(status),
      reason: typeof reason === 'string' ? reason : '',
      upgrade: upgrade === true,
      keepAlive: keepAlive === true,
      request: expected?.[answered],
    };
    if (expected === undefined || message.status < 200) return 0;
    if (answered >= expected.length) unsolicited = true;
    // 1: no body follows, whatever the fields say.
    return expected[answered++] === 'HEAD' ? 1 : 0;
  };
  parser[callback.body] = (chunk) => {
    if (chunk instanceof Uint8Array) body += Buffer.from(chunk).toString('latin1');
    return undefined;
  };
  parser[callback.messageComplete] = () => {
    if (message === undefined || unsolicited) return undefined;
    const interim = expected !== undefined && message.status < 200;
    messages.push(interim ? line(message) : `${line(message)} ${JSON.stringify(body)}`);
    message = undefined;
    return undefined;
  };
  const result = parser.execute(bytes);
  const end = result instanceof Error ? undefined : parser.finish();
  // Its memory is not the collector's.
  parser.close();
  if (result instanceof Error)
    return { messages, refusal: code(result), stopped: Number(Reflect.get(result, 'bytesParsed')) };
  return { messages, refusal: end instanceof Error ? code(end) : undefined, stopped: result };
}

function code(error: Error): string {
  const value: unknown = Reflect.get(error, 'code');
  return typeof value === 'string' ? value : error.message;
}

interface Parser {
  [callback: number]: (...given: readonly unknown[]) => number | undefined;
  initialize(kind: number, owner: object): void;
  execute(bytes: Uint8Array): number | Error;
  finish(): undefined | Error;
  close(): void;
}

interface HttpCommon {
  readonly methods: readonly string[];
  readonly HTTPParser: (new () => Parser) & Readonly<Record<string, number>>;
}

function isHttpCommon(module: unknown): module is HttpCommon {
  return typeof module === 'object' && module !== null && 'HTTPParser' in module && 'methods' in module;
}

const load: (name: string) => unknown = createRequire(import.meta.url);
const found = load('_http_common');
if (!isHttpCommon(found)) throw new Error('this Node has no _http_common with its parser');
const common: HttpCommon = found;

const callback = {
  messageBegin: common.HTTPParser['kOnMessageBegin'] ?? 0,
  headers: common.HTTPParser['kOnHeaders'] ?? 1,
  headersComplete: common.HTTPParser['kOnHeadersComplete'] ?? 2,
  body: common.HTTPParser['kOnBody'] ?? 3,
  messageComplete: common.HTTPParser['kOnMessageComplete'] ?? 4,
} as const;
