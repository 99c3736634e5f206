// What a control group tells of its processor time, and pressure: `cpu.stat` of both versions, `cpu.max`, `cpu.cfs_*`,
// `/proc/pressure/*`. Several such files may stand in one, each under its path, as `head -v` or `grep -r` leave them.
//
//   nr_periods 3000            ==> /sys/fs/cgroup/web/cpu.max <==        some avg10=0.00 avg60=0.10 avg300=0.05 total=12345
//   nr_throttled 930           20000 100000                              full avg10=…
//   throttled_usec 52100000
//
// Samples have cAdvisor's names (`container_cpu_cfs_throttled_periods_total`), so that it is one fact whoever collected it.

import { shareOfLines, type WholeFormat } from '../format.ts';
import { leadingInstant } from '../instants.ts';
import type { Sink } from '../sink.ts';

const section = /^==> (.+) <==$/;
const statLine =
  /^(?:(\S*?)(?:\/|:))?(usage_usec|user_usec|system_usec|nr_periods|nr_throttled|throttled_usec|throttled_time|nr_bursts|burst_usec|burst_time|wait_sum|current_bw|cpuacct\.usage|cpu\.cfs_quota_us|cpu\.cfs_period_us|cpu\.shares|cpu\.weight|core_sched\.force_idle_usec|nice_usec)[\s:=]+(-?\d+)$/;
const maxLine = /^(?:(\S*?)cpu\.max[:\s=]+)?(max|\d+)\s+(\d{3,7})$/;
const pressure = /^(?:(\S+?)[:\s]+)?(some|full) avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+) total=(\d+)$/;

/** Name of the sample, and what its unit is in seconds (or 1). */
const counters: Readonly<Record<string, readonly [string, number]>> = {
  nr_periods: ['container_cpu_cfs_periods_total', 1],
  nr_throttled: ['container_cpu_cfs_throttled_periods_total', 1],
  throttled_usec: ['container_cpu_cfs_throttled_seconds_total', 1e-6],
  throttled_time: ['container_cpu_cfs_throttled_seconds_total', 1e-9],
  usage_usec: ['container_cpu_usage_seconds_total', 1e-6],
  'cpuacct.usage': ['container_cpu_usage_seconds_total', 1e-9],
  user_usec: ['container_cpu_user_seconds_total', 1e-6],
  system_usec: ['container_cpu_system_seconds_total', 1e-6],
};

export const cgroup: WholeFormat = {
  kind: 'whole',
  name: 'control group statistics',
  recognise(head, fileName) {
    const share = shareOfLines(head, (line) => statLine.test(line) || pressure.test(line) || section.test(line), 60);
    if (share > 0) return Math.min(1, 0.5 + 0.5 * share);
    const lone = head.trim();
    return maxLine.test(lone) && !lone.includes('\n') ? (fileName.includes('cpu') ? 0.9 : 0.5) : 0;
  },
  read(text, sink) {
    new CgroupFile(sink).read(text);
  },
};

class CgroupFile {
  readonly #sink: Sink;
  /** The path under whose heading the line stands; the file's name where there is none. */
  #place: string;
  #seen = new Set<string>();
  #quota = new Map<string, number>();
  #atMs: number | undefined;

  constructor(sink: Sink) {
    this.#sink = sink;
    this.#place = sink.file;
  }

  read(text: string): void {
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      if (this.#line(line.trim(), index + 1)) this.#sink.understood();
      else this.#sink.foreign(index + 1, line);
    }
  }

  #line(text: string, line: number): boolean {
    const path = section.exec(text);
    if (path !== null) {
      this.#place = path[1] ?? '';
      return true;
    }
    const stat = statLine.exec(text);
    if (stat !== null) {
      this.#stat(groupOf(stat[1] ?? this.#place), stat[2] ?? '', Number(stat[3]), line);
      return true;
    }
    const stalled = pressure.exec(text);
    if (stalled !== null) {
      this.#pressure(stalled, line);
      return true;
    }
    const max = maxLine.exec(text);
    if (max !== null) {
      const group = groupOf(max[1] ?? this.#place);
      if (max[2] !== 'max') this.#limit(group, Number(max[2]), Number(max[3]), line);
      return true;
    }
    const time = leadingInstant(text.replace(/^[#\s=-]+/, ''));
    if (time !== undefined) this.#atMs = time.ms;
    return time !== undefined || text.startsWith('#');
  }

  #stat(group: string, name: string, value: number, line: number): void {
    if (name === 'cpu.cfs_quota_us') this.#quota.set(group, value);
    else if (name === 'cpu.cfs_period_us') {
      const quota = this.#quota.get(group);
      if (quota !== undefined && quota > 0) this.#limit(group, quota, value, line);
    }
    const counter = counters[name];
    if (counter === undefined) return;
    const [sample, unit] = counter;
    this.#another(`${sample} ${group}`);
    const labels: Record<string, string> = group === '' ? {} : { container: group };
    const counted = unit === 1 ? value : Number((value * unit).toPrecision(12));
    this.#sink.sample(sample, labels, counted, { type: 'counter', atMs: this.#atMs, line });
  }

  #limit(group: string, quota: number, period: number, line: number): void {
    const setting = { program: 'kernel', scope: `control group ${group === '' ? 'here' : group}`, line };
    this.#sink.setting({ ...setting, key: 'cpu.limit', value: quota / period });
    this.#sink.setting({ ...setting, key: 'cpu.quota-period', value: period / 1e6 });
  }

  #pressure(found: RegExpExecArray, line: number): void {
    const [, before, kind = '', ten, sixty, threeHundred, total] = found;
    const resource = /(?:^|[^a-z])(cpu|memory|io|irq)(?:[^a-z]|$)/.exec((before ?? this.#place).toLowerCase())?.[1];
    const labels = { kind, ...(resource === undefined ? {} : { resource }) };
    this.#another(`pressure ${kind} ${resource ?? ''}`);
    const waited = Number(total) / 1e6;
    this.#sink.sample('pressure_waiting_seconds_total', labels, waited, { type: 'counter', atMs: this.#atMs, line });
    for (const [window, percent] of [
      ['10s', ten],
      ['60s', sixty],
      ['300s', threeHundred],
    ] as const) {
      const share = Number(percent) / 100;
      this.#sink.sample('pressure_share', { ...labels, window }, share, { type: 'gauge', atMs: this.#atMs, line });
    }
  }

  /** What is told a second time belongs to another look. */
  #another(id: string): void {
    if (this.#seen.has(id)) {
      this.#seen = new Set();
      this.#sink.nextReading();
    }
    this.#seen.add(id);
  }
}

/** `/sys/fs/cgroup/web/cpu.stat` → `web`; a file's own name says nothing of a group. */
function groupOf(path: string): string {
  const found = /cgroup\/(?:cpu(?:,cpuacct)?\/)?(.+?)\/?(?:cpu\.[\w.]+|cpuacct\.\w+)?$/.exec(path)?.[1] ?? '';
  return found.startsWith('cpu.') ? '' : found.replace(/\/$/, '');
}
