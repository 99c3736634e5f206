// Tables that kubectl prints of pods: `kubectl top pods` (cores and bytes) and `kubectl get pods` (ready, restarts).

import { firstLines, type WholeFormat } from './format.ts';
import { parseBytes, parseCores } from './quantities.ts';
import type { Sink } from './sink.ts';

const topHead = /^(?:NAMESPACE\s+)?(?:POD\s+)?NAME\s+CPU\(cores\)\s+(?:CPU%\s+)?MEMORY\(bytes\)/;
const podsHead = /^(?:NAMESPACE\s+)?NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE/;

export const kubectlTables: WholeFormat = {
  kind: 'whole',
  name: 'kubectl table of pods',
  recognise(head) {
    const first = firstLines(head, 1)[0] ?? '';
    return topHead.test(first) || podsHead.test(first) ? 1 : 0;
  },
  read(text, sink) {
    let columns: string[] = [];
    let tables = 0;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      if (topHead.test(line) || podsHead.test(line)) {
        columns = line.trim().split(/\s+/);
        if (tables > 0) sink.nextReading();
        tables += 1;
        sink.understood();
      } else if (readRow(line, columns, index + 1, sink)) sink.understood();
      else sink.foreign(index + 1, line);
    }
  },
};

function readRow(text: string, columns: readonly string[], line: number, sink: Sink): boolean {
  // `4 (2m ago)` is one cell.
  const cells = text
    .trim()
    .replaceAll(/(\d+) \(([^)]*) ago\)/g, '$1')
    .split(/\s+/);
  if (cells.length < columns.length) return false;
  const cell = (name: string): string | undefined => cells[columns.indexOf(name)];
  const pod = cell('POD') ?? cell('NAME') ?? '';
  const container = columns.includes('POD') ? { container: cell('NAME') ?? '' } : {};
  const labels = { pod, ...container };
  const gauge = { type: 'gauge', line } as const;
  const cores = parseCores(cell('CPU(cores)'));
  const bytes = parseBytes(cell('MEMORY(bytes)'));
  if (cores !== undefined) sink.sample('pod_cpu_cores', labels, cores, gauge);
  if (bytes !== undefined) sink.sample('pod_memory_bytes', labels, bytes, gauge);
  const restarts = Number(cell('RESTARTS') ?? Number.NaN);
  if (Number.isInteger(restarts)) {
    sink.sample('kube_pod_container_status_restarts_total', labels, restarts, { type: 'counter', line });
  }
  const ready = /^(\d+)\/(\d+)$/.exec(cell('READY') ?? '');
  const status = cell('STATUS');
  if (ready !== null) {
    const whole = ready[1] === ready[2] ? 1 : 0;
    sink.sample('kube_pod_status_ready', { ...labels, ...(status === undefined ? {} : { status }) }, whole, gauge);
  }
  return cores !== undefined || ready !== null;
}
