// vmstat: a line an interval, under a header of short words, of which the run queue, the waits and the shares of processor
// time say something here.
//
//    r  b   swpd   free  …  us sy id wa st
//    9  0      0 123456  …  71 20  2  0  7

import { firstLines, type WholeFormat } from '../format.ts';

const words = /^\s*r\s+b\s+swpd\s+free\s.*\bus\s+sy\s+id\s+wa/;
const names: Readonly<Record<string, readonly [string, number]>> = {
  r: ['run_queue', 1],
  b: ['processes_blocked', 1],
  si: ['swap_in', 1],
  so: ['swap_out', 1],
  wa: ['host_io_wait', 0.01],
  st: ['host_cpu_steal', 0.01],
};

export const vmstat: WholeFormat = {
  kind: 'whole',
  name: 'vmstat',
  recognise: (head) => (firstLines(head, 3).some((line) => words.test(line)) ? 1 : 0),
  read(text, sink) {
    let columns: string[] = [];
    let tables = 0;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const cells = line.trim().split(/\s+/);
      if (words.test(line)) columns = cells;
      else if (/^\d/.test(cells[0] ?? '') && cells.length >= columns.length && columns.length > 0) {
        if (tables > 0) sink.nextReading();
        tables += 1;
        for (const [at, column] of columns.entries()) {
          const found = names[column];
          if (found !== undefined)
            sink.sample(found[0], {}, Number(cells[at]) * found[1], { type: 'gauge', line: index + 1 });
          if (column === 'id')
            sink.sample('host_cpu', {}, 1 - Number(cells[at]) / 100, { type: 'gauge', line: index + 1 });
        }
      } else if (!/^procs\b|^-/.test(line.trim())) {
        sink.foreign(index + 1, line);
        continue;
      }
      sink.understood();
    }
  },
};
