// Counts of sockets: `ss -s`, and what pipelines of ss or netstat through `uniq -c` leave.
//
//   TCP:   60021 (estab 3120, closed 28240, orphaned 410, timewait 28219)
//   CLOSE-WAIT 0                 a state and how many
//     28219 TIME-WAIT            the same from `uniq -c`
//   peer 10.0.15.20:8443 count 28232
//     28232 10.0.15.20:8443      sockets towards one peer
//
// Samples: `tcp_<state>`, `tcp_sockets`, and `sockets_to_peer` with the label `peer`.

import { shareOfLines, type WholeFormat } from '../format.ts';
import { leadingInstant } from '../instants.ts';
import { tcpState } from './tcp-states.ts';

const total = /^Total:?\s+(\d+)/;
const tcp = /^TCP:\s+(\d+)\s+\((.*)\)/;
const stateFirst = /^\s*([A-Za-z][A-Za-z0-9_-]+)[\s:=]+(\d+)\s*$/;
const countFirst = /^\s*(\d+)\s+([A-Za-z][A-Za-z0-9_-]+)\s*$/;
const peerWords = /^\s*(?:peer|dst|destination|remote)[\s=]+(\S+:\d+)\s+(?:count|sockets|connections)?[\s=]*(\d+)\s*$/i;
const peerCount = /^\s*(\d+)\s+(\[?[\da-fA-F.:*]+\]?:\d+|[\w.-]+:\d+)\s*$/;
const passedOver = /^(?:Transport\s+Total|RAW|UDP|TCP|INET|FRAG)\s+[\dI*]/;

export const socketCounts: WholeFormat = {
  kind: 'whole',
  name: 'counts of sockets',
  recognise(head) {
    if (/^TCP:\s+\d+ \((?:estab|closed)/m.test(head)) return 1;
    const share = shareOfLines(head, (line) => fits(line), 60);
    return share > 0.6 ? 0.55 + 0.35 * share : 0;
  },
  read(text, sink) {
    const seen = new Set<string>();
    let atMs: number | undefined;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const time = leadingInstant(line.replace(/^[#\s=-]+/, ''));
      if (time !== undefined && !peerCount.test(line) && !countFirst.test(line)) {
        atMs = time.ms;
        sink.understood();
        continue;
      }
      const found = countsIn(line);
      if (found === undefined) {
        if (passedOver.test(line)) sink.understood();
        else sink.foreign(index + 1, line);
        continue;
      }
      sink.understood();
      // What is counted a second time belongs to a second look.
      if (found.some((one) => seen.has(idOf(one)))) {
        seen.clear();
        sink.nextReading();
      }
      for (const one of found) {
        seen.add(idOf(one));
        sink.sample(one.name, one.labels, one.count, { type: 'gauge', atMs, line: index + 1 });
      }
    }
  },
};

interface Counted {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly count: number;
}

function idOf(one: Counted): string {
  return `${one.name} ${one.labels['peer'] ?? ''}`;
}

function fits(line: string): boolean {
  return countsIn(line) !== undefined || passedOver.test(line);
}

/** What one line counts; undefined when it counts nothing that is known. */
function countsIn(line: string): Counted[] | undefined {
  const all = total.exec(line);
  if (all !== null) return [{ name: 'sockets_total_open', labels: {}, count: Number(all[1]) }];
  const summary = tcp.exec(line);
  if (summary !== null) {
    const parts = [...(summary[2] ?? '').matchAll(/([a-z]+) (\d+)/g)].flatMap((part) => {
      const state = tcpState(part[1] ?? '');
      return state === undefined ? [] : [{ name: `tcp_${state}`, labels: {}, count: Number(part[2]) }];
    });
    return [{ name: 'tcp_sockets', labels: {}, count: Number(summary[1]) }, ...parts];
  }
  const [peer, count] = peerIn(line);
  if (peer !== undefined) return [{ name: 'sockets_to_peer', labels: { peer }, count }];
  const first = stateFirst.exec(line);
  const second = countFirst.exec(line);
  const state = tcpState(first?.[1] ?? second?.[2] ?? '');
  if (state === undefined) return undefined;
  return [{ name: `tcp_${state}`, labels: {}, count: Number(first?.[2] ?? second?.[1]) }];
}

function peerIn(line: string): readonly [string | undefined, number] {
  const words = peerWords.exec(line);
  if (words !== null) return [words[1], Number(words[2])];
  const counted = peerCount.exec(line);
  return counted === null ? [undefined, 0] : [counted[2], Number(counted[1])];
}
