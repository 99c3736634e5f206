// What `curl -w` prints when its format is a list of names: one block a request, times in seconds.
//
//      time_namelookup:  0.022099s
//         time_connect:  0.022999s
//           time_total:  0.029399s
//
// Each value is a sample with the number of its request as label `row`, the same as a table of such times gives.

import { type LineFormat, type LineReader, shareOfLines } from '../format.ts';
import { parseSeconds } from '../quantities.ts';
import type { Sink } from '../sink.ts';

const pair =
  /^\s*(time_(?:namelookup|connect|appconnect|pretransfer|redirect|starttransfer|total|queue|posttransfer)|http_code|response_code|num_connects|remote_ip|local_port|speed_download|size_download)\s*[:=]\s*(\S+)\s*$/;
const rule = /^\s*-{3,}\s*$/;

export const curlTimes: LineFormat = {
  kind: 'lines',
  name: 'curl times',
  recognise(head) {
    const share = shareOfLines(head, (line) => pair.test(line) || rule.test(line));
    return share > 0 && /\btime_\w+\s*[:=]/.test(head) ? 0.5 + 0.5 * share : 0;
  },
  open: curlTimesReader,
};

function curlTimesReader(sink: Sink): LineReader {
  const seen = new Set<string>();
  let row = 1;
  return {
    line(text, number) {
      const found = pair.exec(text);
      if (found === null) return rule.test(text);
      const [, name = '', written = ''] = found;
      if (seen.has(name)) {
        seen.clear();
        row += 1;
      }
      seen.add(name);
      const value = parseSeconds(written);
      if (value !== undefined) sink.sample(name, { row: String(row) }, value, { line: number });
      return true;
    },
  };
}
