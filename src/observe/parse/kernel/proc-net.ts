// What the kernel's network counts: `/proc/net/netstat` and `/proc/net/snmp` (a line of names, a line of values), `nstat`
// (a name and a value), `/proc/net/sockstat`, and the sentences of `netstat -s`.
//
//   TcpExt: SyncookiesSent … ListenOverflows ListenDrops …       TcpExtListenOverflows   3378   0.0
//   TcpExt: 0 … 3378 3378 …                                      3378 times the listen queue of a socket overflowed
//
// All become counters by nstat's names: `TcpExtListenOverflows`, `TcpRetransSegs`.

import { shareOfLines, type WholeFormat } from '../format.ts';
import { leadingInstant } from '../instants.ts';
import type { Sink } from '../sink.ts';

const pairLine = /^(\w+):((?:\s+-?\d+)+|(?:\s+[A-Za-z]\w*)+)\s*$/;
const sockstatLine = /^(sockets|TCP6?|UDP6?|UDPLITE6?|RAW6?|FRAG6?):((?: [a-z]+ \d+)+)\s*$/;
const nstatLine =
  /^((?:TcpExt|Tcp|Ip|IpExt|Udp|UdpLite|Icmp|IcmpMsg|MPTcpExt|Ip6|Udp6|Icmp6)[A-Z0-9]\w*)\s+(-?\d+)(?:\s+-?[\d.]+)?\s*$/;
const sentence = /^\s+(\d+) ([A-Za-z][\w ,'()/-]+)$/;
const named = /^\s+(TCP\w+): (\d+)$/;
const title = /^(?:Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite|TcpExt|IpExt|MPTcpExt|Ip6|Udp6):\s*$/;

/** Sentences of `netstat -s` that a theory asks for, as the counters that they are. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [/times the listen queue of a socket overflowed/, 'TcpExtListenOverflows'],
  [/SYNs to LISTEN sockets (?:dropped|ignored)/, 'TcpExtListenDrops'],
  [/(?:segments|segment) retransmit+ed/, 'TcpRetransSegs'],
  [/active connection openings/, 'TcpActiveOpens'],
  [/passive connection openings/, 'TcpPassiveOpens'],
  [/failed connection attempts/, 'TcpAttemptFails'],
  [/connection resets received/, 'TcpEstabResets'],
  [/connections established/, 'TcpCurrEstab'],
  [/resets sent/, 'TcpOutRsts'],
  [/SYN cookies sent/, 'TcpExtSyncookiesSent'],
  [/SYN cookies received/, 'TcpExtSyncookiesRecv'],
  [/TCP sockets finished time wait in fast timer/, 'TcpExtTW'],
  [/time wait sockets recycled/, 'TcpExtTWRecycled'],
  [/connections aborted due to timeout/, 'TcpExtTCPAbortOnTimeout'],
  [/resets received for embryonic SYN_RECV sockets/, 'TcpExtEmbryonicRsts'],
];
const gauges = /^(?:TcpCurrEstab|sockstat_)/;

export const procNet: WholeFormat = {
  kind: 'whole',
  name: 'kernel network counters',
  recognise(head) {
    const share = shareOfLines(
      head,
      (line) =>
        sockstatLine.test(line) ||
        nstatLine.test(line) ||
        /^(?:TcpExt|Tcp|IpExt|Ip|Icmp|Udp|MPTcpExt):(?:\s|$)/.test(line) ||
        line === '#kernel',
      200,
    );
    const told = /^TcpExt:|^\s+\d+ (?:passive|active) connection openings/m.test(head);
    return told ? Math.max(0.9, share) : share > 0.5 ? 0.6 + 0.4 * share : 0;
  },
  read(text, sink) {
    new ProcNet(sink).read(text);
  },
};

class ProcNet {
  readonly #sink: Sink;
  readonly #names = new Map<string, readonly string[]>();
  #seen = new Set<string>();
  #atMs: number | undefined;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  read(text: string): void {
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      if (this.#line(line, index + 1)) this.#sink.understood();
      else this.#sink.foreign(index + 1, line);
    }
  }

  #line(text: string, line: number): boolean {
    const time = leadingInstant(text.replace(/^[#\s=-]+/, ''));
    if (time !== undefined) {
      this.#atMs = time.ms;
      return true;
    }
    if (text.startsWith('#') || title.test(text)) return true;
    const stat = sockstatLine.exec(text);
    if (stat !== null) {
      for (const [, key = '', value] of (stat[2] ?? '').matchAll(/([a-z]+) (\d+)/g)) {
        this.#count(`sockstat_${stat[1] ?? ''}_${key}`, Number(value), line);
      }
      return true;
    }
    const pairs = pairLine.exec(text);
    if (pairs !== null) return this.#pairs(pairs[1] ?? '', (pairs[2] ?? '').trim().split(/\s+/), line);
    const one = nstatLine.exec(text);
    if (one !== null) {
      this.#count(one[1] ?? '', Number(one[2]), line);
      return true;
    }
    const exact = named.exec(text);
    if (exact !== null) {
      this.#count(`TcpExt${exact[1] ?? ''}`, Number(exact[2]), line);
      return true;
    }
    const said = sentence.exec(text);
    if (said === null) return /^\s+\S/.test(text);
    const known = sentences.find(([pattern]) => pattern.test(said[2] ?? ''));
    if (known !== undefined) this.#count(known[1], Number(said[1]), line);
    return true;
  }

  /** A line of names, or the line of values after it. */
  #pairs(prefix: string, words: readonly string[], line: number): boolean {
    if (!/^-?\d+$/.test(words[0] ?? '')) {
      this.#names.set(prefix, words);
      return true;
    }
    const names = this.#names.get(prefix);
    if (names === undefined) return false;
    for (const [index, name] of names.entries()) {
      const value = words[index];
      if (value !== undefined) this.#count(`${prefix}${name}`, Number(value), line);
    }
    return true;
  }

  #count(name: string, value: number, line: number): void {
    // The same counter again: another look.
    if (this.#seen.has(name)) {
      this.#seen = new Set();
      this.#sink.nextReading();
    }
    this.#seen.add(name);
    const type = gauges.test(name) ? 'gauge' : 'counter';
    this.#sink.sample(name, {}, value, { type, atMs: this.#atMs, line });
  }
}
