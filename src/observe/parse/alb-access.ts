// The access log of AWS load balancers: application (with a type in front and details after), and classic.
//
//   type time elb client:port target:port request-time target-time response-time elb-status target-status received sent
//     "request" "agent" cipher protocol target-group-arn "trace" "domain" "certificate" priority creation-time "actions"
//     "redirect" "error reason" "targets" "target statuses" "classification" "reason"
//
// The time is when the answer was complete. A part that was never reached is −1, which tells apart what the same 502 or 504
// hides: no target at all, one that could not be reached, one that was reached and said nothing.

import { withoutQuery } from './access-row.ts';
import { type LineFormat, type LineReader, shareOfLines } from './format.ts';
import { leadingInstant } from './instants.ts';
import { blankRow, clearRow, type RequestRow } from './request-table.ts';
import type { Sink } from './sink.ts';

const program = 'alb';

const line =
  /^(?:(https?|h2|grpcs|wss?) )?(\d{4}-\d\d-\d\dT[\d:.]+Z) (\S+) (\S+?)(?::\d+)? (\S+) (-?[\d.]+) (-?[\d.]+) (-?[\d.]+) (\d{3}|-) (\d{3}|-) (-?\d+) (-?\d+) "((?:[^"\\]|\\.)*)"(?: "((?:[^"\\]|\\.)*)" (\S+) (\S+)(?: (\S+) "([^"]*)" "([^"]*)" "([^"]*)" (\S+) (\S+) "([^"]*)" "([^"]*)" "([^"]*)")?)?/;

export const albAccess: LineFormat = {
  kind: 'lines',
  name: 'AWS load balancer access log',
  recognise: (head) => shareOfLines(head, (text) => line.test(text)),
  open: albAccessReader,
};

function albAccessReader(sink: Sink): LineReader {
  const table = sink.requests(program);
  const row = blankRow();
  return {
    line(text) {
      const found = line.exec(text);
      const ended = leadingInstant(found?.[2] ?? '');
      if (found === null || ended === undefined) return false;
      table.stepMs = Math.max(1, ended.stepMs);
      if (!table.wants()) return true;
      clearRow(row);
      fill(row, found, ended.ms);
      table.add(row);
      return true;
    },
  };
}

function fill(row: RequestRow, found: RegExpExecArray, endMs: number): void {
  const given = (index: number): string | undefined => {
    const text = found[index];
    return text === undefined || text === '-' || text === '' ? undefined : text;
  };
  const [toTarget, target, back] = [6, 7, 8].map((index) => Number(found[index]));
  const created = leadingInstant(given(22) ?? '')?.ms;
  const known =
    toTarget !== undefined && target !== undefined && back !== undefined && Math.min(toTarget, target, back) >= 0;
  row.seconds = known ? toTarget + target + back : created === undefined ? Number.NaN : (endMs - created) / 1000;
  row.startMs = created ?? endMs - (known ? row.seconds * 1000 : 0);
  row.queueSeconds = positive(toTarget);
  row.upstreamSeconds = positive(target);
  row.status = Number(given(9) ?? -1);
  row.upstreamStatus = Number(given(10) ?? -1);
  row.replica = given(5);
  row.attempts = row.replica === undefined ? 0 : 1;
  row.client = given(4);
  row.service = /targetgroup\/([^/]+)/.exec(given(17) ?? '')?.[1] ?? given(3);
  row.flag = given(25) ?? reasonOf(row, toTarget, target);
  const request = /^(\S+) (\S+)/.exec(found[13] ?? '');
  if (request !== null && request[1] !== '-') row.route = `${request[1]} ${withoutQuery(request[2] ?? '')}`;
}

function positive(seconds: number | undefined): number {
  return seconds === undefined || seconds < 0 ? Number.NaN : seconds;
}

/** What the parts that are −1 say, where the balancer gives no reason in words. */
function reasonOf(row: RequestRow, toTarget: number | undefined, target: number | undefined): string | undefined {
  if (row.status < 500) return undefined;
  if (row.replica === undefined) return 'no-target';
  if (toTarget === -1) return 'target-not-reached';
  return target === -1 ? 'target-no-answer' : undefined;
}
