// The kernel's table of tracked connections: its counters (`conntrack -S`, `/proc/net/stat/nf_conntrack`), its entries by state
// (a table that somebody made), or the entries themselves (`conntrack -L`), which are counted.
//
//   cpu=0 found=15 invalid=0 insert=0 insert_failed=120 drop=120 early_drop=0 error=0 search_restart=4
//   entries  clashres found … insert_failed drop …               one line a processor, in hex
//   tcp      6 431999 ESTABLISHED src=10.0.0.1 dst=10.0.0.2 sport=40000 dport=443 …
//   state,entries                                                 CLOSE_WAIT,602930

import { type LineFormat, type LineReader, shareOfLines } from '../format.ts';
import type { Sink } from '../sink.ts';
import { tcpState } from './tcp-states.ts';

const counters = /^cpu=(\d+)\s+(?:\S+=\d+\s*)+$/;
const hexHead = /^(?:entries\s+)?(?:clashres|searched)\s+found\s+/;
const hexRow = /^[0-9a-f]{8}(?:\s+[0-9a-f]{8}){5,}\s*$/;
const entry =
  /^(?:ipv[46]\s+\d+\s+)?(tcp|udp|icmp|sctp|dccp|unknown)\s+\d+\s+(?:\d+\s+)?(?:([A-Z_]{3,})\s+)?src=\S+ dst=(\S+)/;
const summary = /^conntrack v[\d.]+ .*: (\d+) flow entries/;
const tableHead = /^(?:tcp_)?state[,;\t](?:entries|count|connections)\s*$/i;
const tableRow = /^([A-Z][A-Z_-]+)[,;\t](\d+)\s*$/;

export const conntrack: LineFormat = {
  kind: 'lines',
  name: 'connection tracking',
  recognise(head) {
    const sure = shareOfLines(head, (line) => counters.test(line) || entry.test(line) || hexRow.test(line));
    if (sure > 0) return 0.6 + 0.4 * sure;
    return tableHead.test(head.split('\n')[0] ?? '') && tableRow.test(head.split('\n')[1] ?? '') ? 0.8 : 0;
  },
  open: conntrackReader,
};

function conntrackReader(sink: Sink): LineReader {
  let columns: string[] = [];
  let processor = -1;
  const seen = new Set<string>();
  const states = new Map<string, number>();
  return {
    line(text, number) {
      if (counters.test(text)) {
        readCounters(text, number);
        return true;
      }
      if (hexHead.test(text)) {
        if (processor >= 0) sink.nextReading();
        columns = text.trim().split(/\s+/);
        processor = -1;
        return true;
      }
      if (hexRow.test(text) && columns.length > 0) {
        processor += 1;
        readHex(text, number);
        return true;
      }
      const found = entry.exec(text);
      if (found !== null) {
        const state = found[2] ?? found[1] ?? '';
        states.set(state, (states.get(state) ?? 0) + 1);
        return true;
      }
      const row = tableRow.exec(text);
      if (row !== null && tcpState(row[1] ?? '') !== undefined) {
        const labels = { state: (row[1] ?? '').toUpperCase() };
        sink.sample('conntrack_entries', labels, Number(row[2]), { type: 'gauge', line: number });
        return true;
      }
      return summary.test(text) || tableHead.test(text);
    },
    end() {
      for (const [state, count] of states) sink.sample('conntrack_entries', { state }, count, { type: 'gauge' });
    },
  };

  function readCounters(text: string, line: number): void {
    const pairs = [...text.matchAll(/(\w+)=(\d+)/g)];
    const cpu = pairs[0]?.[2] ?? '';
    // The same processor again: another look.
    if (seen.has(cpu)) {
      seen.clear();
      sink.nextReading();
    }
    seen.add(cpu);
    for (const [, name = '', value] of pairs.slice(1)) {
      sink.sample(`conntrack_${name}`, { cpu }, Number(value), { type: 'counter', line });
    }
  }

  function readHex(text: string, line: number): void {
    for (const [index, word] of text.trim().split(/\s+/).entries()) {
      const name = columns[index];
      const value = Number.parseInt(word, 16);
      if (name === undefined || Number.isNaN(value)) continue;
      // Every processor tells the size of the one table.
      if (name === 'entries') {
        if (processor === 0) sink.sample('nf_conntrack_count', {}, value, { type: 'gauge', line });
      } else sink.sample(`conntrack_${name}`, { cpu: String(processor) }, value, { type: 'counter', line });
    }
  }
}
