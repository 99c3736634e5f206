import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageFact } from '../../../record.ts';
import { type Row, table } from '../testing/facts.ts';
import { judged, standing } from '../testing/judged.ts';

const from = 1_700_000_000_000;

const refused = (second: number, target = '10.0.0.2:80'): MessageFact => ({
  program: 'nginx',
  atMs: from + second * 1000,
  code: 'upstream-refused',
  text: `connect() failed (111: Connection refused) while connecting to upstream, upstream: "http://${target}/"`,
  origin: { file: 'error.log' },
});

/** Three replicas in turn for twenty seconds; `b` fails from one second up to another. */
const log = (gone: number, back: number): Row[] =>
  Array.from({ length: 600 }, (_, index) => {
    const at = index / 30;
    const isGone = index % 3 === 1 && at >= gone && at < back;
    return {
      replica: ['a', 'b', 'c'][index % 3] ?? 'a',
      at,
      seconds: isGone ? 0.001 : 0.02,
      status: isGone ? 502 : 200,
    };
  });

const refusals = (gone: number, back: number): MessageFact[] =>
  log(gone, back).flatMap(({ at = 0, status }) => (status === 502 ? [refused(Math.floor(at))] : []));

test('a replica that refuses connections to the end is gone, whatever the log calls it', () => {
  const { verdict } = judged({ messages: refusals(8, 20), requests: [table('nginx', log(8, 20))] });
  assert.equal(verdict.pattern, 'unreachable-target');
  assert.match(verdict.culprit ?? '', /^10\.0\.0\.2:80: nobody listens/);
});

test('one that answers again was only away', () => {
  const away = judged({ messages: refusals(8, 12), requests: [table('nginx', log(8, 12))] });
  assert.equal(standing(away, 'unreachable-target'), 'refuted');
});

test('refusals everywhere are not those of one target', () => {
  const everywhere = refusals(8, 20).map((message, index) => (index % 2 === 0 ? message : refused(9, '10.0.0.3:80')));
  const found = judged({ messages: everywhere, requests: [table('nginx', log(8, 20))] });
  assert.equal(standing(found, 'unreachable-target'), 'refuted');
});
