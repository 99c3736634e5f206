// Interfaces and disks as `sar -n DEV` and `iostat -x` print them: a row a device, the columns named above.
//
//   10:00:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s  …  %ifutil
//   Device            r/s     rkB/s  …  aqu-sz  %util
//
// Samples by device: bytes and packets a second, what share of the link or the disk is in use. Each table is a reading.

import type { WholeFormat } from '../format.ts';
import { parseNumber } from '../quantities.ts';

const network = /(?:^|\s)IFACE\s+rxpck\/s/;
const disk = /^\s*Device:?\s+.*\s%util/;
const processor = /^avg-cpu:/;
const passedOver = /^(?:Linux \d|Average:\s*$)/;

const names: Readonly<Record<string, readonly [string, number]>> = {
  'rxkB/s': ['network_receive_bytes_per_second', 1024],
  'txkB/s': ['network_transmit_bytes_per_second', 1024],
  'rxpck/s': ['network_receive_packets_per_second', 1],
  'txpck/s': ['network_transmit_packets_per_second', 1],
  '%ifutil': ['network_utilisation', 0.01],
  '%util': ['disk_utilisation', 0.01],
  'aqu-sz': ['disk_queue_length', 1],
  r_await: ['disk_read_wait_seconds', 0.001],
  w_await: ['disk_write_wait_seconds', 0.001],
};

export const deviceTables: WholeFormat = {
  kind: 'whole',
  name: 'devices by the second',
  recognise(head) {
    const lines = head.split('\n').slice(0, 30);
    return lines.some((line) => network.test(line) || disk.test(line)) ? 0.96 : 0;
  },
  read(text, sink) {
    let columns: readonly string[] = [];
    let kind: 'interface' | 'disk' | 'processor' = 'interface';
    let tables = 0;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const cells = line
        .replace(/^\s*(?:\d\d:\d\d:\d\d(?:\s+[AP]M)?|Average:)\s+/, '')
        .trim()
        .split(/\s+/);
      if (network.test(line) || disk.test(line)) {
        kind = network.test(line) ? 'interface' : 'disk';
        columns = cells;
        if (tables > 0) sink.nextReading();
        tables += 1;
      } else if (processor.test(line)) {
        kind = 'processor';
        columns = cells.slice(1);
      } else if (kind === 'processor' && cells.length === columns.length) {
        const share = (name: string): number | undefined => parseNumber(cells[columns.indexOf(name)]);
        for (const [column, name] of [
          ['%iowait', 'host_io_wait'],
          ['%steal', 'host_cpu_steal'],
        ] as const) {
          const value = share(column);
          if (value !== undefined) sink.sample(name, {}, value / 100, { type: 'gauge', line: index + 1 });
        }
      } else if (
        kind !== 'processor' &&
        cells.length === columns.length &&
        cells.slice(1).every((cell) => parseNumber(cell) !== undefined)
      ) {
        for (const [at, column] of columns.entries()) {
          const found = names[column];
          const value = parseNumber(cells[at]);
          if (found === undefined || value === undefined) continue;
          sink.sample(found[0], { [kind]: cells[0] ?? '' }, value * found[1], { type: 'gauge', line: index + 1 });
        }
      } else if (!passedOver.test(line)) {
        sink.foreign(index + 1, line);
        continue;
      }
      sink.understood();
    }
  },
};
