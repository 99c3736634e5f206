// Who uses the processor: `pidstat`, `top -b`, `ps aux`, `mpstat`. Tables whose header names the columns, printed again and again.
//
//   14:00:01      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
//       PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
//
// Samples: `cpu_percent` with `pid` and `command` (100 is one processor), `cpu_wait_percent`, and `host_cpu` as a share. Each
// table is a reading; an `Average:` that closes them is taken instead of them.

import { type WholeFormat } from '../format.ts';
import { parseNumber } from '../quantities.ts';
import type { Sink } from '../sink.ts';

const header = /(?:^|\s)(?:PID|TGID)\s.*%CPU(?:\s|$)/;
const hostHeader = /(?:^|\s)CPU\s+.*%idle(?:\s|$)/;
const summary = /^%?Cpu\(s\)?:\s*(.*)$/i;
const passedOver = /^(?:top - |Tasks:|Threads:|(?:KiB|MiB|GiB|K|M)\w* ?(?:Mem|Swap)|Mem:|Swap:|Linux \d|Average:\s*$)/;

export const processTables: WholeFormat = {
  kind: 'whole',
  name: 'processor time by process',
  recognise(head) {
    const first = head.split('\n').slice(0, 30);
    return first.some((line) => header.test(line)) || first.some((line) => hostHeader.test(line)) ? 0.95 : 0;
  },
  read(text, sink) {
    const lines = text.split('\n');
    // Once there are averages, the tables before them are only on the way.
    const averaged = lines.some((line) => line.startsWith('Average:'));
    let columns: readonly string[] = [];
    let tables = 0;
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue;
      const usage = summary.exec(line);
      if (header.test(line) || hostHeader.test(line)) {
        columns = cellsOf(line);
        if (tables > 0 && !averaged) sink.nextReading();
        tables += 1;
        sink.understood();
      } else if (usage !== null) {
        readSummary(usage[1] ?? '', index + 1, sink);
        sink.understood();
      } else if (passedOver.test(line)) sink.understood();
      else if (readRow(line, columns, averaged && !line.startsWith('Average:'), index + 1, sink)) sink.understood();
      else sink.foreign(index + 1, line);
    }
  },
};

/** The words of a line without its time, which may be two words. */
function cellsOf(line: string): string[] {
  return line
    .replace(/^\s*(?:#\s*Time|\d\d:\d\d:\d\d(?:\s+[AP]M)?|\d{10}|Average:|#)\s+/, '')
    .trim()
    .split(/\s+/);
}

function readRow(text: string, columns: readonly string[], skipped: boolean, line: number, sink: Sink): boolean {
  const cells = cellsOf(text);
  if (columns.length === 0 || cells.length < columns.length) return false;
  const at = (name: string): number => columns.indexOf(name);
  const cell = (name: string): string | undefined => cells[at(name)];
  const gauge = { type: 'gauge', line } as const;
  const pid = cell('PID') ?? cell('TGID');
  if (pid === undefined) {
    const idle = parseNumber(cell('%idle'));
    if (idle === undefined) return false;
    if (skipped) return true;
    const cpu = cell('CPU') ?? 'all';
    sink.sample('host_cpu', cpu === 'all' ? {} : { cpu }, (100 - idle) / 100, gauge);
    return true;
  }
  const percent = parseNumber(cell('%CPU'));
  if (parseNumber(pid) === undefined || percent === undefined) return false;
  if (skipped) return true;
  const last = Math.max(at('Command'), at('COMMAND'));
  const command = last === -1 ? undefined : cells.slice(last).join(' ').slice(0, 60);
  const labels = { pid, ...(command === undefined ? {} : { command }) };
  sink.sample('cpu_percent', labels, percent, gauge);
  const wait = parseNumber(cell('%wait'));
  if (wait !== undefined) sink.sample('cpu_wait_percent', labels, wait, gauge);
  return true;
}

/** `97.7 us,  1.0 sy,  0.0 ni,  1.0 id,  0.0 wa,  0.0 hi,  0.3 si,  0.0 st` */
function readSummary(text: string, line: number, sink: Sink): void {
  const shares = new Map<string, number>();
  for (const [, value, name = ''] of text.matchAll(/([\d.]+)[ %]*([a-z]{2})/g)) shares.set(name, Number(value) / 100);
  const idle = shares.get('id');
  const steal = shares.get('st');
  if (idle !== undefined) sink.sample('host_cpu', {}, Number((1 - idle).toFixed(6)), { type: 'gauge', line });
  if (steal !== undefined) sink.sample('host_cpu_steal', {}, steal, { type: 'gauge', line });
}
