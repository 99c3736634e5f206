// What `dig`, `nslookup` and `host` print: the addresses of a name, and how long the answer took.
//
//   ;; ANSWER SECTION:
//   lb.example.test.   60   IN   A   192.0.2.31
//   ;; Query time: 5003 msec
//
// The addresses are a list of endpoints of that name; a time is a sample of a lookup. Several answers in one file are several readings.

import { firstLines, type WholeFormat } from '../format.ts';
import type { Sink } from '../sink.ts';

const digAnswer = /^([\w.-]+?)\.?\s+(\d+)\s+IN\s+(?:A|AAAA)\s+([\d.]+|[\da-f:]+)\s*$/i;
const hostAnswer = /^([\w.-]+) has (?:IPv6 )?address ([\d.]+|[\da-f:]+)$/i;
const lookupName = /^Name:\s+([\w.-]+)$/;
const lookupAddress = /^Address(?:es)?:\s+([\d.]+|[\da-f:]+)$/i;
const time = /^;; Query time:\s+(\d+)\s+(msec|usec)/;
const failed =
  /^(?:;; (?:connection|communications error|no servers)|;; ->>HEADER<<-.*status: (?:SERVFAIL|NXDOMAIN|REFUSED)|\*\* server can't find|;; connection timed out)/;

export const nameLookup: WholeFormat = {
  kind: 'whole',
  name: 'answer of a name server',
  recognise(head) {
    const lines = firstLines(head, 40);
    if (lines.some((line) => /^; <<>> DiG |^;; ->>HEADER<<-/.test(line))) return 1;
    if (lines.every((line) => hostAnswer.test(line) || / has no | mail is handled | is an alias for /.test(line)))
      return lines.length > 0 ? 0.97 : 0;
    return lines.some((line) => /^Server:\s/.test(line)) && lines.some((line) => /^Address:\s/.test(line)) ? 0.97 : 0;
  },
  read(text, sink) {
    const found = new Map<string, { addresses: string[]; line: number }>();
    let name = '';
    let times = 0;
    for (const [index, raw] of text.split('\n').entries()) {
      const line = raw.trim();
      if (line === '') continue;
      sink.understood();
      name = lookupName.exec(line)?.[1] ?? name;
      const dig = digAnswer.exec(line);
      const host = hostAnswer.exec(line);
      const own = dig === null ? (host?.[1] ?? name) : (dig[1] ?? '');
      // The first address that nslookup prints is the server's.
      const address = dig?.[3] ?? host?.[2] ?? (name === '' ? undefined : lookupAddress.exec(line)?.[1]);
      if (address !== undefined) {
        const known = found.get(own) ?? { addresses: [], line: index + 1 };
        if (!known.addresses.includes(address)) known.addresses.push(address);
        found.set(own, known);
      }
      const took = time.exec(line);
      if (took !== null) {
        times += 1;
        const seconds = Number(took[1]) * (took[2] === 'usec' ? 1e-6 : 1e-3);
        sink.sample('dns_lookup_seconds', { lookup: String(times) }, seconds, { type: 'gauge', line: index + 1 });
      }
      if (failed.test(line)) {
        const code = /timed out|no servers|communications error/.test(line) ? 'dns-timeout' : 'dns-failure';
        sink.message({ program: 'resolver', atMs: undefined, code, text: line, line: index + 1 });
      }
    }
    for (const [service, { addresses, line }] of found) writeAddresses(service, addresses, line, sink);
  },
};

function writeAddresses(service: string, addresses: readonly string[], line: number, sink: Sink): void {
  const setting = { program: 'resolver', scope: service, line };
  sink.setting({ ...setting, key: 'upstream.endpoints', value: addresses.length });
  sink.setting({ ...setting, key: 'upstream.endpoint-list', value: addresses.join() });
  for (const address of addresses) sink.hints.addresses.add(address);
}
