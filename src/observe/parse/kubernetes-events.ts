// Kubernetes events: objects of the API, and the table that `kubectl get events` prints.
//
// Reasons are many; those that move load from one place to another have words here, any other stays as it is, in lower case.
// The table gives ages, not times (`5m`): such an event has no instant.

import { firstLines, type LineFormat, type LineReader } from './format.ts';
import { leadingInstant, parseInstant } from './instants.ts';
import type { Sink } from './sink.ts';
import { textAt, type Tree } from './tree.ts';

const words: Readonly<Record<string, string>> = {
  unhealthy: 'unhealthy',
  targetunhealthy: 'unhealthy',
  probeerror: 'unhealthy',
  notready: 'unhealthy',
  healthy: 'healthy',
  targethealthy: 'healthy',
  ready: 'pod-started',
  started: 'pod-started',
  killing: 'pod-terminating',
  terminating: 'pod-terminating',
  preempting: 'pod-terminating',
  evicted: 'pod-terminating',
  prestopfinished: 'pre-stop-finished',
  scalingreplicaset: 'scaled',
  successfulrescale: 'scaled',
  backoff: 'restart',
  crashloopbackoff: 'restart',
  restarted: 'restart',
  oomkilling: 'out-of-memory',
  oomkilled: 'out-of-memory',
  nodenotready: 'node-not-ready',
  failedscheduling: 'failed-scheduling',
  deregistered: 'removed-from-balancer',
  targetderegistered: 'removed-from-balancer',
  registered: 'added-to-balancer',
};

/** Our word for a reason: `Killing` → `pod-terminating`, `FailedMount` → `failed-mount`. */
export function eventWord(reason: string): string {
  const known = words[reason.toLowerCase().replaceAll(/[^a-z]/g, '')];
  return (
    known ??
    reason
      .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
      .replaceAll(/[^A-Za-z\d]+/g, '-')
      .toLowerCase()
  );
}

/** One Event object. */
export function readEvent(object: Tree, sink: Sink): void {
  const at =
    textAt(object, 'eventTime') ??
    textAt(object, 'lastTimestamp') ??
    textAt(object, 'firstTimestamp') ??
    textAt(object, 'metadata', 'creationTimestamp');
  const reason = textAt(object, 'reason');
  if (reason === undefined) return;
  const kind = (textAt(object, 'involvedObject', 'kind') ?? textAt(object, 'regarding', 'kind') ?? '').toLowerCase();
  const name = textAt(object, 'involvedObject', 'name') ?? textAt(object, 'regarding', 'name');
  const detail = textAt(object, 'message') ?? textAt(object, 'note');
  sink.event({
    atMs: parseInstant(at)?.ms,
    event: eventWord(reason),
    ...(name === undefined ? {} : { subject: kind === '' || kind === 'pod' ? name : `${kind} ${name}` }),
    ...(detail === undefined ? {} : { detail }),
    line: object.line,
  });
}

const tableHead = /^(?:NAMESPACE\s+)?(?:LAST SEEN|TIME|FIRST SEEN)\s+(?:.*\s)?TYPE\s+REASON\s+OBJECT\s+.*MESSAGE\s*$/;
const tableLine = /^(?:(\S+)\s+)?(\S+(?: \(x\d+ over \S+\))?)\s+(Normal|Warning)\s+(\S+)\s+([a-z.]+)\/(\S+)\s+(.*)$/;

export const kubectlEvents: LineFormat = {
  kind: 'lines',
  name: 'kubectl get events',
  recognise: (head) => (tableHead.test(firstLines(head, 1)[0] ?? '') ? 1 : 0),
  open: kubectlEventsReader,
};

function kubectlEventsReader(sink: Sink): LineReader {
  return {
    line(text, number) {
      if (tableHead.test(text)) return true;
      const found = tableLine.exec(text);
      if (found === null) return false;
      const name = found[5] === 'pod' ? (found[6] ?? '') : `${found[5]} ${found[6]}`;
      sink.event({
        atMs: leadingInstant(found[2] ?? '')?.ms,
        event: eventWord(found[4] ?? ''),
        subject: name,
        detail: (found[7] ?? '').trim(),
        line: number,
      });
      return true;
    },
  };
}
