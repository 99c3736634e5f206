// nginx's stub_status page. Connections accepted but not handled were dropped at the worker_connections limit.
//
//   Active connections: 291
//   server accepts handled requests
//    16630948 16630948 31070465
//   Reading: 6 Writing: 179 Waiting: 106

import type { WholeFormat } from './format.ts';

const page =
  /Active connections:\s*(\d+)\s+server accepts handled requests(?: request_time)?\s+(\d+)\s+(\d+)\s+(\d+)[^\n]*\s+Reading:\s*(\d+)\s+Writing:\s*(\d+)\s+Waiting:\s*(\d+)/g;
const names = ['active', 'accepts', 'handled', 'requests', 'reading', 'writing', 'waiting'] as const;
const counters = new Set(['accepts', 'handled', 'requests']);

export const nginxStatus: WholeFormat = {
  kind: 'whole',
  name: 'nginx stub_status',
  recognise: (head) => (head.search(page) === -1 ? 0 : 1),
  read(text, sink) {
    let readings = 0;
    for (const found of text.matchAll(page)) {
      if (readings > 0) sink.nextReading();
      readings += 1;
      const line = text.slice(0, found.index).split('\n').length;
      for (const [index, name] of names.entries()) {
        const type = counters.has(name) ? 'counter' : 'gauge';
        sink.sample(`nginx_connections_${name}`, {}, Number(found[index + 1]), { type, line });
      }
      sink.understood(4);
    }
  },
};
