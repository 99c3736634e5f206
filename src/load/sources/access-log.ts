// An access log to be played again: the common and combined formats of Apache and nginx, and any line that has a time in
// brackets and a request in quotes (HAProxy's HTTP log among them). What was asked and when; bodies and most headers are not in
// a log, so only requests without a body can be played as they were.
//
//   10.0.0.7 - - [30/Nov/2026:06:01:38 +0000] "GET /items?id=1 HTTP/1.1" 200 512 "https://shop.example/" "curl/8"
//
// Whole seconds are all that most logs know: requests of one second are spread evenly over it, in their order.

import { type Duration, ms } from '../../base.ts';
import { type Source, type SourceProblem, type SourceRequest, stepOf } from './source.ts';

/** Methods that can be asked again without the body that the log does not have. */
const bodiless = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** Lines are told one by one only so far; a foreign file has too many. */
const problemsMax = 20;

interface LogLine {
  readonly atMs: number;
  readonly method: string;
  readonly target: string;
}

export function readAccessLog(text: string): Source {
  const problems: SourceProblem[] = [];
  const found: LogLine[] = [];
  let unread = 0;
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const read = readLine(line);
    if (typeof read !== 'string') {
      found.push(read);
      return;
    }
    unread += 1;
    if (unread <= problemsMax) problems.push({ line: index + 1, message: read });
  });
  if (unread > problemsMax) problems.push({ line: undefined, message: `${unread} lines in all could not be played` });
  return { format: 'access-log', requests: timed(found), problems };
}

function readLine(line: string): LogLine | string {
  const request = /"([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?"/.exec(line);
  if (request === null) return 'no request in quotes such as "GET /path HTTP/1.1"';
  const [, method = '', target = ''] = request;
  if (!bodiless.has(method)) return `${method} ${target}: its body is not in the log`;
  if (!target.startsWith('/')) return `${target} is no path`;
  const atMs = timeOf(line);
  return atMs === undefined ? 'no time in brackets such as [30/Nov/2026:06:01:38 +0000]' : { atMs, method, target };
}

/** Milliseconds since 1970; the zone is UTC where none is given, which only matters if it changes within the log. */
function timeOf(line: string): number | undefined {
  const found =
    /\[(\d{1,2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?(?: ([+-])(\d{2})(\d{2}))?\]/.exec(
      line,
    );
  if (found === null) return undefined;
  const [, day, month = '', year, hour, minute, second, fraction = '0', sign, zoneHours = '0', zoneMinutes = '0'] =
    found;
  const monthIndex = months.indexOf(month);
  if (monthIndex === -1) return undefined;
  const zone = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1);
  const whole = Date.UTC(Number(year), monthIndex, Number(day), Number(hour), Number(minute), Number(second));
  return whole - zone * 60_000 + Number(`0.${fraction}`) * 1000;
}

/** In the order of time, counted from the first; those of one instant spread over what is left of their second. */
function timed(lines: readonly LogLine[]): readonly SourceRequest[] {
  const sorted = lines.toSorted((one, other) => one.atMs - other.atMs);
  const first = sorted[0]?.atMs ?? 0;
  const requests: SourceRequest[] = [];
  for (const same of Map.groupBy(sorted, ({ atMs }) => atMs).values()) {
    same.forEach(({ atMs, method, target }, index) => {
      const step = atMs % 1000 === 0 ? 1000 / same.length : 0;
      const at: Duration = ms(atMs - first + index * step);
      requests.push({ origin: undefined, step: stepOf(method, target, [], undefined), at });
    });
  }
  return requests;
}
