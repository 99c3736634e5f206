// `/etc/resolv.conf`: whom the C library asks for names, and how long it waits. What is not written binds as well: 5 s, two
// tries, names with a dot asked as they are.

import { shareOfLines, type WholeFormat } from '../format.ts';
import type { Sink } from '../sink.ts';

const line = /^\s*(nameserver|search|domain|options|sortlist)\s+(.*?)\s*$/;
const comment = /^\s*[#;]/;

export const resolvConf: WholeFormat = {
  kind: 'whole',
  name: 'resolver configuration',
  recognise(head) {
    const share = shareOfLines(head, (text) => line.test(text) || comment.test(text));
    return /^\s*(?:nameserver\s+[\da-fA-F.:%]+|options\s+\S*(?:ndots|timeout|attempts))/m.test(head) && share > 0.5
      ? share
      : 0;
  },
  read(text, sink) {
    const servers: string[] = [];
    const options = new Map<string, { readonly value: string; readonly line: number }>();
    let search: { readonly words: readonly string[]; readonly line: number } | undefined;
    let firstServer: number | undefined;
    for (const [index, written] of text.split('\n').entries()) {
      if (written.trim() === '') continue;
      const found = line.exec(written);
      if (found === null && !comment.test(written)) {
        sink.foreign(index + 1, written);
        continue;
      }
      sink.understood();
      const words = (found?.[2] ?? '').split(/\s+/);
      if (found?.[1] === 'nameserver') {
        servers.push(words[0] ?? '');
        firstServer ??= index + 1;
      }
      if (found?.[1] === 'search' || found?.[1] === 'domain') search = { words, line: index + 1 };
      if (found?.[1] !== 'options') continue;
      for (const word of words) {
        const [name = '', value = ''] = word.split(':');
        options.set(name, { value, line: index + 1 });
      }
    }
    if (servers.length > 0) write(sink, 'dns.servers', servers.join(), firstServer);
    if (search !== undefined) write(sink, 'dns.search-domains', search.words.length, search.line);
    writeOptions(sink, options);
  },
};

type Options = ReadonlyMap<string, { readonly value: string; readonly line: number }>;

function writeOptions(sink: Sink, options: Options): void {
  for (const [name, key, otherwise] of [
    ['timeout', 'dns.timeout', 5],
    ['attempts', 'dns.attempts', 2],
    ['ndots', 'dns.search-dots', 1],
  ] as const) {
    const written = options.get(name);
    const value = written === undefined ? Number.NaN : Number(written.value);
    if (Number.isNaN(value)) write(sink, key, otherwise, undefined);
    else write(sink, key, value, written?.line);
  }
  const single = options.get('single-request') ?? options.get('single-request-reopen');
  write(sink, 'dns.parallel-questions', single === undefined, single?.line);
}

/** Without a line nobody wrote it. */
function write(
  sink: Sink,
  key:
    | 'dns.servers'
    | 'dns.search-domains'
    | 'dns.timeout'
    | 'dns.attempts'
    | 'dns.search-dots'
    | 'dns.parallel-questions',
  value: number | string | boolean,
  at: number | undefined,
): void {
  sink.setting({ program: 'resolver', scope: 'resolv.conf', key, value, implied: at === undefined, line: at });
}
