// `/proc/<pid>/limits`: what one process may use. The files it may have open at once are a bound on its connections.
//
//   Limit                     Soft Limit           Hard Limit           Units
//   Max open files            1024                 524288               files
//
// The soft limit binds; the process may raise it itself up to the hard one.

import { shareOfLines, type WholeFormat } from '../format.ts';

const header = /^Limit\s+Soft Limit\s+Hard Limit\s+Units\s*$/;
const row = /^Max [a-z -]+?\s{2,}(?:\d+|unlimited)\s+(?:\d+|unlimited)/;
const openFiles = /^Max open files\s+(\d+)/;

export const processLimits: WholeFormat = {
  kind: 'whole',
  name: 'limits of a process',
  recognise(head) {
    const titles = shareOfLines(head, (line) => header.test(line), 20);
    return titles > 0 && shareOfLines(head, (line) => row.test(line), 20) > 0.4 ? 0.97 : 0;
  },
  read(text, sink) {
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const most = openFiles.exec(line)?.[1];
      if (most !== undefined) {
        const bound = { program: 'process', scope: 'main', key: 'kernel.files-per-process-max' } as const;
        sink.setting({ ...bound, value: Number(most), line: index + 1 });
      }
      if (header.test(line) || row.test(line)) sink.understood();
      else sink.foreign(index + 1, line);
    }
  },
};
