// Go's goroutine profile as text (`/debug/pprof/goroutine?debug=1`): how many stand at the same place, and where that is.
//
//   goroutine profile: total 812
//   800 @ 0x43e0c5 0x44f2b2
//   #	0x6a1b2b	database/sql.(*DB).conn+0x12b	/usr/local/go/src/database/sql/sql.go:1369
//
// Samples `threads` as of a thread dump, and a message where most wait for a connection of a pool or for the network.

import type { WholeFormat } from '../format.ts';

const head = /^goroutine profile: total (\d+)/;
const group = /^(\d+) @(?: 0x[0-9a-f]+)*\s*$/;
const frame = /^#\s+0x[0-9a-f]+\s+(\S+?)\+0x[0-9a-f]+\s+(\S+):\d+/;

export const goroutineProfile: WholeFormat = {
  kind: 'whole',
  name: 'goroutine profile',
  recognise: (text) => (head.test(text) ? 1 : 0),
  read(text, sink) {
    let total = 0;
    let count = 0;
    let frames: { readonly name: string; readonly own: boolean }[] = [];
    let line = 0;
    const write = (): void => {
      const top = frames.find(({ name }) => !name.startsWith('runtime.'))?.name ?? '';
      const own = frames.find((one) => one.own)?.name ?? '';
      if (count === 0) return;
      sink.sample('threads', { pool: 'goroutines', state: 'waiting', top, own }, count, { type: 'gauge', line });
      if (count >= 0.5 * total && total >= 10) {
        const code = /database\/sql\.\(\*DB\)\.conn\b|[Pp]ool\S*\.(?:[Aa]cquire|[Gg]et)\b/.test(top)
          ? 'threads-wait-for-pool'
          : /net\.|poll|Read/.test(top)
            ? 'threads-wait-for-network'
            : undefined;
        if (code !== undefined)
          sink.message({
            program: 'go',
            atMs: undefined,
            code,
            subject: 'goroutines',
            text: `${count} of ${total} goroutines in ${top}`,
            line,
          });
      }
      count = 0;
    };
    for (const [index, raw] of text.split('\n').entries()) {
      if (raw.trim() === '') continue;
      const found = frame.exec(raw);
      if (head.test(raw)) total = Number(head.exec(raw)?.[1] ?? 0);
      else if (group.test(raw)) {
        write();
        count = Number(group.exec(raw)?.[1] ?? 0);
        frames = [];
        line = index + 1;
      } else if (found !== null) {
        const own = !/\/go\/src\/|\/pkg\/mod\/|\/vendor\//.test(found[2] ?? '');
        frames.push({ name: found[1] ?? '', own });
      } else if (!raw.startsWith('#')) {
        sink.foreign(index + 1, raw);
        continue;
      }
      sink.understood();
    }
    write();
  },
};
