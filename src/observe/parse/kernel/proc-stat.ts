// Processor time as the kernel counts it: `/proc/stat` (ticks of a hundredth of a second by what they went to), `/proc/schedstat`
// (nanoseconds run and waited, by processor) and `/proc/PID/schedstat` (three numbers: run, waited, times on a processor).
//
//   cpu  4705 356 584 3699 23 23 0 12 0 0        user nice system idle iowait irq softirq steal guest guest_nice
//
// Samples have node_exporter's names, so that it is one fact whoever collected it.

import { firstLines, shareOfLines, type WholeFormat } from '../format.ts';
import { leadingInstant } from '../instants.ts';
import type { Sink } from '../sink.ts';

const modes = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal', 'guest', 'guest_nice'] as const;
const cpuLine = /^cpu(\d*)\s+(\d+(?:\s+\d+){3,9})\s*$/;
const otherLine = /^(?:intr|softirq|ctxt|btime|processes|procs_running|procs_blocked|version|timestamp|domain\d+)\s+\S/;
const lone = /^(\d+) (\d+) (\d+)$/;
const ticksPerSecond = 100;

export const procStat: WholeFormat = {
  kind: 'whole',
  name: 'kernel processor time',
  recognise(head, fileName) {
    const share = shareOfLines(head, (line) => cpuLine.test(line) || otherLine.test(line));
    if (/^cpu\d*\s+\d+ \d+ \d+/m.test(head) && share > 0.4) return 0.6 + 0.4 * share;
    const lines = firstLines(head, 2);
    return lines.length === 1 && lone.test(lines[0] ?? '') && fileName.includes('sched') ? 0.9 : 0;
  },
  read(text, sink) {
    const isScheduler = /^version \d+$/m.test(text);
    const seen = new Set<string>();
    let atMs: number | undefined;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const found = cpuLine.exec(line);
      const waited = lone.exec(line.trim());
      const time = leadingInstant(line.replace(/^[#\s=-]+/, ''));
      if (found !== null) {
        const cpu = found[1] === '' ? 'all' : (found[1] ?? '');
        if (seen.has(cpu)) {
          seen.clear();
          sink.nextReading();
        }
        seen.add(cpu);
        const numbers = (found[2] ?? '').split(/\s+/).map(Number);
        if (isScheduler) readScheduler(cpu, numbers.slice(6), atMs, index + 1, sink);
        else readTicks(cpu, numbers, atMs, index + 1, sink);
      } else if (waited !== null) readScheduler('all', waited.slice(1).map(Number), atMs, index + 1, sink);
      else if (time !== undefined) atMs = time.ms;
      else if (!otherLine.test(line) && !line.startsWith('#')) {
        sink.foreign(index + 1, line);
        continue;
      }
      sink.understood();
    }
  },
};

function readTicks(cpu: string, ticks: readonly number[], atMs: number | undefined, line: number, sink: Sink): void {
  for (const [index, mode] of modes.entries()) {
    const value = ticks[index];
    if (value === undefined) continue;
    sink.sample('node_cpu_seconds_total', { cpu, mode }, value / ticksPerSecond, { type: 'counter', atMs, line });
  }
}

function readScheduler(
  cpu: string,
  numbers: readonly number[],
  atMs: number | undefined,
  line: number,
  sink: Sink,
): void {
  const [ran, waited, slices] = numbers;
  const counter = { type: 'counter', atMs, line } as const;
  if (ran !== undefined) sink.sample('node_schedstat_running_seconds_total', { cpu }, ran / 1e9, counter);
  if (waited !== undefined) sink.sample('node_schedstat_waiting_seconds_total', { cpu }, waited / 1e9, counter);
  if (slices !== undefined) sink.sample('node_schedstat_timeslices_total', { cpu }, slices, counter);
}
