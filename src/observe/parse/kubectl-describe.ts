// `kubectl describe`: pages for people. What is read of them: the events at the end, the limits, the state of each container, and
// how it is probed.
//
//   Name:             web-0
//       Limits:
//         cpu:     200m
//       Readiness:      http-get http://:8000/healthz delay=0s timeout=1s period=5s #success=1 #failure=3
//   Events:
//     Type     Reason     Age   From     Message
//     Warning  Unhealthy  2m    kubelet  Readiness probe failed: …

import { firstLines, type WholeFormat } from './format.ts';
import { eventWord } from './kubernetes-events.ts';
import { parseCores, parseSeconds } from './quantities.ts';
import type { Sink } from './sink.ts';

const program = 'kubernetes';
const event = /^\s+(Normal|Warning)\s{2,}(\S+)\s{2,}(\S+(?: \(x\d+ over \S+\))?)\s{2,}(\S+)\s{2,}(.*)$/;
const probe = /^\s+(Readiness|Liveness|Startup):\s+(\S+)\s+(\S*)/;

export const kubectlDescribe: WholeFormat = {
  kind: 'whole',
  name: 'kubectl describe',
  recognise(head) {
    const named = /^Name:\s+\S/.test(firstLines(head, 1)[0] ?? '');
    return named && /^(?:Namespace|Labels|Annotations|Status|Events|Containers|Roles):/m.test(head) ? 0.97 : 0;
  },
  read(text, sink) {
    let name = '';
    let under = '';
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      // A page for people has much that is only for people.
      sink.understood();
      const [, key = '', value = ''] = /^(\S[^:]*):\s*(.*)$/.exec(line) ?? [];
      if (key === 'Name') name = value;
      const inner = /^\s+(Limits|Requests):\s*$/.exec(line)?.[1];
      under =
        inner ??
        (/^\s{4,}\w+:\s+\S/.test(line) && under !== '' && !/^\s+\w+:\s*$/.test(line)
          ? under
          : key === '' && !probe.test(line)
            ? under
            : '');
      readLine(line, index + 1, name, under, sink);
    }
  },
};

function readLine(line: string, number: number, name: string, under: string, sink: Sink): void {
  const where = { program, scope: `pod ${name}`, line: number };
  const cores = /^\s+cpu:\s+(\S+)/.exec(line)?.[1];
  if (cores !== undefined) {
    const value = parseCores(cores);
    if (value !== undefined && under === 'Limits') sink.setting({ ...where, key: 'cpu.limit', value });
    if (value !== undefined && under === 'Requests') sink.setting({ ...where, key: 'cpu.request', value });
  }
  const restarts = /^\s+Restart Count:\s+(\d+)/.exec(line)?.[1];
  if (restarts !== undefined) {
    sink.sample('kube_pod_container_status_restarts_total', { pod: name }, Number(restarts), {
      type: 'counter',
      line: number,
    });
  }
  const asked = probe.exec(line);
  if (asked !== null) readProbe(line, asked, number, name, sink);
  const found = event.exec(line);
  if (found !== null) {
    sink.event({
      atMs: undefined,
      event: eventWord(found[2] ?? ''),
      subject: name,
      detail: (found[5] ?? '').trim(),
      line: number,
    });
  }
}

function readProbe(text: string, asked: RegExpExecArray, line: number, name: string, sink: Sink): void {
  const where = { program, scope: `pod ${name} ${(asked[1] ?? '').toLowerCase()}`, line };
  const kind = { 'http-get': 'http', 'tcp-socket': 'tcp', exec: 'exec', grpc: 'grpc' }[asked[2] ?? ''];
  if (kind !== undefined) sink.setting({ ...where, key: 'health.kind', value: kind });
  const path = /^\w+:\/\/[^/]*(\/\S*)/.exec(asked[3] ?? '')?.[1];
  if (path !== undefined) sink.setting({ ...where, key: 'health.path', value: path });
  for (const [word, key] of [
    ['timeout', 'health.timeout'],
    ['period', 'health.interval'],
  ] as const) {
    const value = parseSeconds(new RegExp(String.raw`\b${word}=(\S+)`).exec(text)?.[1]);
    if (value !== undefined) sink.setting({ ...where, key, value });
  }
  const fall = /#failure=(\d+)/.exec(text)?.[1];
  if (fall !== undefined) sink.setting({ ...where, key: 'health.fall', value: Number(fall) });
}
