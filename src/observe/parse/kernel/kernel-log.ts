// The kernel's log: `dmesg` with seconds since boot, with `-T`, with `--time-format=iso`, and through syslog or the journal.
//
//   [88123.100000] nf_conntrack: nf_conntrack: table full, dropping packet
//   [Wed Mar 11 14:00:00 2026] TCP: request_sock_TCP: Possible SYN flooding on port 8080. Sending cookies.
//   Mar 11 14:00:00 node-3 kernel: [88123.1] Out of memory: Killed process 4711 (java) total-vm:…
//
// Seconds since boot are no point in time. They are kept as the sample `kernel_log_uptime_seconds` of first and last line of
// each code, which is enough for how long and how often.

import { type LineFormat, type LineReader, shareOfLines } from '../format.ts';
import { leadingInstant, someInstant } from '../instants.ts';
import { messageCode } from '../message-codes.ts';
import type { Sink } from '../sink.ts';

const boot = /^(?:<\d+>|\w+\s*:\w+\s*: )?\[\s*(\d+\.\d{2,})\](?: \[\s*[TC]\d+\])?:? (.*)$/;
const dated = /^(?:\w+\s*:\w+\s*: )?\[[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d+) (\d\d:\d\d:\d\d) (\d{4})\] (.*)$/;
const viaSyslog = /^(\S.*?) (?:[\w.-]+ )?kernel(?:\[\d+\])?: (?:\[\s*\d+\.\d+\] )?(.*)$/;
const iso = /^\d{4}-\d\d-\d\dT[\d:,.]+[+-]\d\d:?\d\d (.*)$/;

/** What only a kernel says; for the rest the codes of all programs hold. */
const codes: readonly (readonly [RegExp, string])[] = [
  [/nf_conntrack: table full|nf_conntrack.*dropping packet/, 'conntrack-full'],
  [/Possible SYN flooding/, 'syn-flood'],
  [/Out of memory: |oom-kill:|Memory cgroup out of memory/, 'out-of-memory'],
  [/TCP: out of memory/, 'tcp-out-of-memory'],
  [/time wait bucket table overflow/, 'time-wait-table-full'],
  [/neighbou?r table overflow|arp_cache.*overflow/i, 'neighbour-table-full'],
  [/too many orphaned sockets/, 'too-many-orphans'],
  [/file-max limit \d+ reached/, 'too-many-open-files'],
  [/soft lockup|hung_task|blocked for more than \d+ seconds|rcu.*stall/, 'kernel-stall'],
  [/Link is Down|link down|NIC Link is Down/i, 'link-down'],
  [/I\/O error|blk_update_request/, 'disk-error'],
  [/segfault at/, 'crash'],
];

export const kernelLog: LineFormat = {
  kind: 'lines',
  name: 'kernel log',
  recognise(head) {
    const share = shareOfLines(head, (line) => saidIn(line, undefined) !== undefined);
    return share === 0 ? 0 : 0.55 + 0.4 * share;
  },
  open: kernelLogReader,
};

interface Said {
  readonly uptime: number | undefined;
  readonly atMs: number | undefined;
  readonly text: string;
}

function saidIn(line: string, nearMs: number | undefined): Said | undefined {
  const since = boot.exec(line);
  if (since !== null) return { uptime: Number(since[1]), atMs: undefined, text: since[2] ?? '' };
  const date = dated.exec(line);
  if (date !== null) {
    const [, month = '', day = '', time = '', year = '', text = ''] = date;
    const at = leadingInstant(`${day}/${month}/${year}:${time}`);
    return { uptime: undefined, atMs: at?.ms, text };
  }
  const told = viaSyslog.exec(line);
  if (told !== null) {
    return { uptime: undefined, atMs: leadingInstant(told[1] ?? '', 0, nearMs)?.ms, text: told[2] ?? '' };
  }
  const stamped = iso.exec(line);
  const text = stamped?.[1] ?? '';
  // A time and words could be any program's log: here only when the words are a kernel's.
  if (stamped === null || !codes.some(([pattern]) => pattern.test(text))) return undefined;
  return { uptime: undefined, atMs: leadingInstant(line)?.ms, text };
}

function kernelLogReader(sink: Sink, head: string): LineReader {
  const nearMs = someInstant(head);
  const spans = new Map<string, { from: number; to: number }>();
  return {
    line(text, number) {
      const said = saidIn(text, nearMs);
      if (said === undefined) return false;
      const code = codes.find(([pattern]) => pattern.test(said.text))?.[1] ?? messageCode(said.text) ?? 'log-kernel';
      const subject = subjectOf(said.text);
      sink.message({
        program: 'kernel',
        atMs: said.atMs,
        code,
        ...(subject === undefined ? {} : { subject }),
        text: said.text,
        line: number,
      });
      if (said.uptime !== undefined && code !== 'log-kernel') {
        const span = spans.get(code);
        if (span === undefined) spans.set(code, { from: said.uptime, to: said.uptime });
        else span.to = said.uptime;
      }
      return true;
    },
    end() {
      for (const [code, { from, to }] of spans) {
        sink.sample('kernel_log_uptime_seconds', { code, which: 'first' }, from, { type: 'gauge' });
        sink.sample('kernel_log_uptime_seconds', { code, which: 'last' }, to, { type: 'gauge' });
      }
    },
  };
}

/** A port, a killed process, an interface. */
function subjectOf(text: string): string | undefined {
  const port = /on port (?:\S*:)?(\d+)/.exec(text)?.[1];
  if (port !== undefined) return `port ${port}`;
  return /Killed process \d+ \(([^)]+)\)/.exec(text)?.[1] ?? /^(\w+): .*[Ll]ink/.exec(text)?.[1];
}
