// Apache's server-status page for machines (`?auto`). The scoreboard has a letter for each worker:
//
//   BusyWorkers: 150
//   IdleWorkers: 0
//   Scoreboard: RRRRKKWW_...
//
//   _ waiting   S starting   R reading   W sending   K keepalive   D dns   C closing   L logging   G finishing   I cleanup   . open
//
// Samples: `apache_scoreboard{state}`, `apache_workers_busy`, `apache_workers_idle`, counters of accesses, the processor's share.

import type { WholeFormat } from '../format.ts';
import type { Sink } from '../sink.ts';

const states: Readonly<Record<string, string>> = {
  _: 'waiting',
  S: 'starting',
  R: 'reading',
  W: 'sending',
  K: 'keepalive',
  D: 'dns',
  C: 'closing',
  L: 'logging',
  G: 'finishing',
  I: 'cleanup',
};

interface Line {
  readonly name: string;
  readonly counter?: boolean;
  readonly scale?: number;
}

const lines: Readonly<Record<string, Line>> = {
  'Total Accesses': { name: 'apache_accesses_total', counter: true },
  'Total kBytes': { name: 'apache_sent_bytes_total', counter: true, scale: 1024 },
  CPULoad: { name: 'apache_cpu_usage_ratio', scale: 0.01 },
  Uptime: { name: 'apache_uptime_seconds' },
  BusyWorkers: { name: 'apache_workers_busy' },
  IdleWorkers: { name: 'apache_workers_idle' },
  ConnsTotal: { name: 'apache_connections_open' },
  ConnsAsyncKeepAlive: { name: 'apache_connections_idle' },
};

export const apacheStatus: WholeFormat = {
  kind: 'whole',
  name: 'Apache server-status',
  recognise: (head) => (/^Scoreboard: [_SRWKDCLGI.]+\s*$/m.test(head) && /^(?:Busy|Idle)Workers: /m.test(head) ? 1 : 0),
  read(text, sink) {
    const read = new Set<string>();
    for (const [index, raw] of text.split('\n').entries()) {
      if (raw.trim() === '') continue;
      const [, name = '', value = ''] = /^([^:]+):\s*(.*?)\s*$/.exec(raw) ?? [];
      const known = lines[name];
      if (read.has(name) && (known !== undefined || name === 'Scoreboard')) {
        sink.nextReading();
        read.clear();
      }
      read.add(name);
      if (name === 'Scoreboard') writeScoreboard(value, index + 1, sink);
      else if (known !== undefined && Number.isFinite(Number(value)) && value !== '') {
        const type = known.counter === true ? 'counter' : 'gauge';
        sink.sample(known.name, {}, Number(value) * (known.scale ?? 1), { type, line: index + 1 });
      } else if (name === '') {
        sink.foreign(index + 1, raw);
        continue;
      }
      sink.understood();
    }
  },
};

function writeScoreboard(letters: string, line: number, sink: Sink): void {
  const counts = new Map<string, number>();
  for (const letter of letters) {
    const state = states[letter];
    if (state !== undefined) counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  for (const [state, count] of counts) sink.sample('apache_scoreboard', { state }, count, { type: 'gauge', line });
}
