import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TickLine } from '../record.ts';
import { inFlightChart } from './chart.ts';
import { liveLine, liveLines } from './live.ts';
import { plain } from './paint.ts';
import { table } from './table.ts';

const tick: TickLine = {
  kind: 'tick',
  at_ns: 5e9,
  span_ns: 2e9,
  phase: 'baseline',
  replicas: [
    {
      id: 'api-1',
      finished: 348,
      in_flight_mean: 4.2,
      latency: { count: 348, mean_ns: 2e7, p50_ns: 18e6, p90_ns: 4e7, p99_ns: 61e6, max_ns: 9e7 },
    },
    {
      id: 'api-2',
      finished: 347,
      in_flight_mean: 46,
      latency: { count: 347, mean_ns: 2e8, p50_ns: 262e6, p90_ns: 3e8, p99_ns: 481e6, max_ns: 6e8 },
    },
    { id: 'api-3', started: 12, finished: 0, state: 'silent' },
    { id: 'store-1', finished: 0, in_flight_mean: 1 },
  ],
  clients: [{ group: 'users', planned: 700, sent: 700, answered: 695, in_flight_mean: 64, errors: { timeout: 2 } }],
};

test('each replica is a row with its rate, a bar as long as its share of the fullest, and its times', () => {
  const lines = liveLines({ title: 'baseline', progress: '5 s of 21 s', tick }, 200, plain);
  assert.equal(lines[0], 'baseline  5 s of 21 s');
  assert.match(lines[2] ?? '', /^ {2}api-1 +174\/s {2}█{3}·{29} +4\.2 +18\.0 ms +61\.0 ms$/);
  assert.match(lines[3] ?? '', /^ {2}api-2 +174\/s {2}█{32} +46\.0 +262 ms +481 ms$/);
  assert.match(lines[4] ?? '', /api-3 .* silent/);
  assert.match(lines.at(-1) ?? '', /users: 348\/s answered, 64 in flight, 2 timeout/);
  assert.ok(!lines.join('\n').includes('store-1'), 'a dependency answers no client');
});

test('no line is longer than the terminal, and escape sequences do not count', () => {
  const paint = { ...plain, faint: (text: string) => `\u001B[2m${text}\u001B[22m` };
  for (const line of liveLines({ title: 'baseline', progress: '', tick }, 40, paint)) {
    // oxlint-disable-next-line no-control-regex -- an escape sequence begins with a control character
    assert.ok([...line.replaceAll(/\u001B\[[0-9;]*m/g, '')].length <= 40, line);
  }
});

test('without a terminal it is one plain line', () => {
  assert.equal(
    liveLine({ title: 'baseline', progress: '5 s of 21 s', tick }),
    'baseline 5 s of 21 s: 348/s; in flight api-1 4.2, api-2 46.0, api-3 ?',
  );
});

test('a table wraps prose and keeps columns in line', () => {
  const lines = table(
    [{ title: 'theory' }, { title: 'claim', width: 12 }, { title: 'x', align: 'right' }],
    [
      ['convoy', 'equal shares of requests', '1'],
      ['slow', 'short', '22'],
    ],
    (text) => text,
  );
  assert.deepEqual(lines, [
    'theory  claim          x',
    'convoy  equal shares   1',
    '        of requests',
    'slow    short         22',
  ]);
});

test('a replica that was not observed is a gap in the chart, not a fall to zero', () => {
  const silent: TickLine = { ...tick, at_ns: 7e9, replicas: [{ id: 'api-2', finished: 1, state: 'silent' }] };
  const svg = inFlightChart({ title: 'a < b', ticks: [tick, silent, { ...tick, at_ns: 9e9, phase: 'stop-replica' }] });
  const paths = [...svg.matchAll(/<path d="([^"]+)"/g)].map((match) => match[1] ?? '');
  assert.equal(paths.length, 2);
  assert.equal((paths[0]?.match(/M/g) ?? []).length, 2, 'a new phase begins a new line');
  assert.equal((paths[1]?.match(/M/g) ?? []).length, 2);
  assert.ok(svg.includes('a &lt; b'));
  assert.ok(svg.includes('>stop-replica<'));
});
