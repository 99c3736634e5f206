// What a person watches while a run goes on: one row a replica, its rate, what is in flight as a bar, how long answers
// take. From the record's ticks and nothing else; the numbers are the tick's own.

import { type Duration, formatDuration } from '../base.ts';
import type { ReplicaTick, TickLine } from '../record.ts';
import { pad } from './table.ts';
import type { Paint } from './paint.ts';

export interface LiveState {
  readonly title: string;
  /** `4 s of 21 s`. */
  readonly progress: string;
  readonly tick: TickLine | undefined;
}

const barWidth = 32;

/** The whole display, line by line, none longer than `columns`. */
export function liveLines(state: LiveState, columns: number, paint: Paint): string[] {
  const head = `${paint.strong(state.title)}  ${paint.faint(state.progress)}`;
  const tick = state.tick;
  if (tick === undefined) return [head];
  const served = servedReplicas(tick);
  const most = Math.max(1, ...served.map((replica) => replica.in_flight_mean ?? 0));
  const names = Math.max(7, ...served.map((replica) => replica.id.length));
  const title = `  ${pad('replica', names, 'left')}  ${pad('rate', 8, 'right')}  in flight${' '.repeat(barWidth - 1)}  p50       p99`;
  const rows = served.map((replica) => `  ${replicaRow(replica, tick, most, names, paint)}`);
  return [head, paint.faint(title), ...rows, ...clientRows(tick, paint)].map((line) => clip(line, columns));
}

/** The same in one line, for a log or a pipe. */
export function liveLine(state: LiveState): string {
  const tick = state.tick;
  if (tick === undefined) return `${state.title}: ${state.progress}`;
  const inFlight = servedReplicas(tick)
    .map((replica) => `${replica.id} ${replica.in_flight_mean === undefined ? '?' : replica.in_flight_mean.toFixed(1)}`)
    .join(', ');
  const clients = tick.clients
    .map((client) => {
      const latency = client.latency;
      const times = latency === undefined ? '' : `, p50 ${time(latency.p50_ns)}, p99 ${time(latency.p99_ns)}`;
      return `${perSecond(client.answered, tick)}${times}`;
    })
    .join('; ');
  return `${state.title} ${state.progress}: ${clients}; in flight ${inFlight}`;
}

/** Dependencies answer no client; they are shown only when nothing else is there. */
function servedReplicas(tick: TickLine): readonly ReplicaTick[] {
  const served = tick.replicas.filter((replica) => (replica.finished ?? 0) > 0 || replica.started !== undefined);
  return served.length > 0 ? served : tick.replicas;
}

function replicaRow(replica: ReplicaTick, tick: TickLine, most: number, names: number, paint: Paint): string {
  const level = replica.in_flight_mean;
  const filled = level === undefined ? 0 : Math.round((level / most) * barWidth);
  const bar = '█'.repeat(filled) + paint.faint('·'.repeat(barWidth - filled));
  const shown = level === undefined ? 'silent' : level.toFixed(1);
  const latency = replica.latency;
  const times =
    latency === undefined ? '' : `${pad(time(latency.p50_ns), 8, 'right')}  ${pad(time(latency.p99_ns), 8, 'right')}`;
  return `${pad(replica.id, names, 'left')}  ${pad(perSecond(replica.finished ?? 0, tick), 8, 'right')}  ${bar} ${pad(shown, 6, 'right')}  ${times}`;
}

function clientRows(tick: TickLine, paint: Paint): string[] {
  return tick.clients.map((client) => {
    const errors = Object.entries(client.errors ?? {}).map(([kind, count]) => `${count} ${kind}`);
    const wrong = errors.length === 0 ? '' : `, ${paint.bad(errors.join(', '))}`;
    return (
      paint.faint(
        `  ${client.group}: ${perSecond(client.answered, tick)} answered, ${client.in_flight_mean.toFixed(0)} in flight`,
      ) + wrong
    );
  });
}

function perSecond(count: number, tick: TickLine): string {
  return `${(count / (tick.span_ns / 1e9)).toFixed(0)}/s`;
}

function time(nanoseconds: number): string {
  return formatDuration(nanoseconds as Duration);
}

/** Cuts to what fits, leaving escape sequences whole. */
function clip(line: string, columns: number): string {
  let shown = 0;
  let out = '';
  // oxlint-disable-next-line no-control-regex -- an escape sequence begins with a control character
  for (const part of line.split(/(\u001B\[[0-9;]*m)/)) {
    if (part.startsWith('\u001B')) out += part;
    else {
      const room = Math.max(0, columns - shown);
      out += [...part].slice(0, room).join('');
      shown += Math.min(room, [...part].length);
    }
  }
  return out;
}
