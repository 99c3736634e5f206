// A run so far in Prometheus's text format, version 0.0.4. Histograms have the bounds that most people's dashboards have; the
// counts at them are read off our finer grid. Requests without an answer are in no bucket: `plimsoll_load_ended_total` has them.

import { inSeconds, ms, ns, seconds } from '../../base.ts';
import type { Histogram } from '../../stats.ts';
import type { GroupRunning, RunningTotals } from './running-totals.ts';

const bounds = [
  ms(0.5),
  ms(1),
  ms(2.5),
  ms(5),
  ms(10),
  ms(25),
  ms(50),
  ms(100),
  ms(250),
  ms(500),
  seconds(1),
  seconds(2.5),
  seconds(5),
  seconds(10),
];

type Labels = Readonly<Record<string, string>>;

interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly lines: readonly string[];
}

/** The whole exposition. */
export function prometheusText(totals: RunningTotals): string {
  return families(totals)
    .filter(({ lines }) => lines.length > 0)
    .map(({ name, type, help, lines }) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`)
    .join('');
}

function families(totals: RunningTotals): readonly Family[] {
  const groups = [...totals.groups];
  const replicas = [...totals.replicas];
  const held = [...totals.held];
  return [
    counter('plimsoll_load_planned_total', 'Requests that came due.', (name) =>
      groups.map(([group, { planned }]) => sample(name, { group }, planned)),
    ),
    counter('plimsoll_load_sent_total', 'Requests that were sent.', (name) =>
      groups.map(([group, { sent }]) => sample(name, { group }, sent)),
    ),
    counter('plimsoll_load_tries_total', 'Tries that were sent, where clients ask again.', (name) =>
      groups.flatMap(([group, { tries }]) => (tries === undefined ? [] : [sample(name, { group }, tries.sent)])),
    ),
    counter('plimsoll_load_retries_total', 'Further tries that failures and timeouts led to.', (name) =>
      groups.flatMap(([group, { tries }]) => (tries === undefined ? [] : [sample(name, { group }, tries.retries)])),
    ),
    counter('plimsoll_load_ended_total', 'Requests by how they ended; in the end they add up to the planned.', (name) =>
      groups.flatMap(([group, running]) => ends(running).map(([how, count]) => sample(name, { group, how }, count))),
    ),
    counter('plimsoll_load_errors_total', 'Failures by kind, timeouts among them.', (name) =>
      groups.flatMap(([group, { errors }]) => [...errors].map(([kind, count]) => sample(name, { group, kind }, count))),
    ),
    counter('plimsoll_load_received_bytes_total', 'Bytes of whole answers, heads included.', (name) =>
      groups.map(([group, { bytes }]) => sample(name, { group }, bytes)),
    ),
    gauge('plimsoll_load_in_flight', 'Requests due and unanswered, mean over the last second.', (name) =>
      groups.map(([group, { inFlight }]) => sample(name, { group }, inFlight)),
    ),
    histogram('plimsoll_load_latency_seconds', 'From due time to the whole answer.', (name) =>
      groups.flatMap(([group, { latency }]) => histogramLines(name, { group }, latency)),
    ),
    histogram('plimsoll_load_service_seconds', 'From sending to the whole answer.', (name) =>
      groups.flatMap(([group, { service }]) => histogramLines(name, { group }, service)),
    ),
    histogram('plimsoll_load_lag_seconds', "How late requests were taken up: the generator's own error.", (name) =>
      groups.flatMap(([group, { lag }]) => histogramLines(name, { group }, lag)),
    ),
    counter('plimsoll_load_replica_answers_total', 'Whole answers by who gave them.', (name) =>
      replicas.map(([replica, { answers }]) => sample(name, { replica }, answers)),
    ),
    counter('plimsoll_load_replica_errors_total', 'Failures by whom they are put down to.', (name) =>
      replicas.flatMap(([replica, { errors }]) =>
        [...errors].map(([kind, count]) => sample(name, { replica, kind }, count)),
      ),
    ),
    histogram('plimsoll_load_replica_latency_seconds', 'From due time to the whole answer, by who gave it.', (name) =>
      replicas.flatMap(([replica, { latency }]) => histogramLines(name, { replica }, latency)),
    ),
    gauge('plimsoll_load_held_connections', 'Connections held besides.', (name) =>
      held.map(([group, each]) => sample(name, { group }, each.held)),
    ),
    gauge('plimsoll_load_held_asked', 'Connections that are to be held.', (name) =>
      held.map(([group, { asked }]) => sample(name, { group }, asked)),
    ),
    counter('plimsoll_load_held_opened_total', 'Connections opened to be held.', (name) =>
      held.map(([group, { opened }]) => sample(name, { group }, opened)),
    ),
    counter('plimsoll_load_held_lost_total', 'Held connections that the peer closed.', (name) =>
      held.map(([group, { lost }]) => sample(name, { group }, lost)),
    ),
    counter('plimsoll_load_cpu_seconds_total', 'CPU time of the generating threads.', (name) => [
      sample(name, {}, inSeconds(totals.cpu)),
    ]),
  ];
}

const ends = (running: GroupRunning): readonly (readonly [how: string, count: number])[] => [
  ['answered', running.answered],
  ['failed', running.failed],
  ['timed_out', running.timedOut],
  ['refused', running.refused],
  ['in_flight_at_end', running.inFlightAtEnd],
  ['never_sent', running.neverSent],
];

type Lines = (name: string) => readonly string[];

const counter = (name: string, help: string, lines: Lines): Family => ({
  name,
  type: 'counter',
  help,
  lines: lines(name),
});
const gauge = (name: string, help: string, lines: Lines): Family => ({ name, type: 'gauge', help, lines: lines(name) });
const histogram = (name: string, help: string, lines: Lines): Family => ({
  name,
  type: 'histogram',
  help,
  lines: lines(name),
});

function histogramLines(name: string, labels: Labels, values: Histogram): readonly string[] {
  const rows = bounds.map((bound) =>
    sample(`${name}_bucket`, { ...labels, le: String(inSeconds(bound)) }, Math.round(values.countAtMost(ns(bound)))),
  );
  return [
    ...rows,
    sample(`${name}_bucket`, { ...labels, le: '+Inf' }, values.count),
    sample(`${name}_sum`, labels, inSeconds(values.sum)),
    sample(`${name}_count`, labels, values.count),
  ];
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`);
