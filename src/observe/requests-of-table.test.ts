import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDossier } from './dossier.ts';
import { requestsOfTable } from './requests-of-table.ts';

/** A log of HAProxy: `took`, milliseconds, for each request, 10 ms apart, in turns over two servers; −1: nobody could be asked. */
function logOf(took: readonly number[]): string {
  const lines = took.map((ms, index) => {
    const at = new Date(Date.UTC(2026, 2, 4, 8) + index * 10).toISOString();
    const time = `04/Mar/2026:${at.slice(11, 23)}`;
    const end = ms < 0 ? 'api/<NOSRV> 0/-1/-1/-1/0 503' : `api/s${index % 2} 0/2/0/${ms - 2}/${ms} 200`;
    return `Mar  4 08:00:00 lb1 haproxy[1]: 10.0.0.1:5000 [${time}] www ${end} 10 - - ${ms < 0 ? 'SC--' : '----'} 1/1/1/1/0 0/0 "GET / HTTP/1.1"`;
  });
  return `${lines.join('\n')}\n`;
}

function tableOf(took: readonly number[]): Parameters<typeof requestsOfTable>[0] {
  const [table] = readDossier([{ name: 'haproxy.log', text: logOf(took) }]).dossier.requests;
  assert.ok(table !== undefined);
  return table;
}

test('rows become requests again, with when they were handed over and what went wrong', () => {
  const [first, second] = [...requestsOfTable(tableOf([20, -1]))];
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual([first.endMs - first.startMs, first.handedMs - first.startMs], [20, 2]);
  assert.deepEqual([first.replica, first.service, first.error, first.attempts], ['s0', 'api', undefined, 1]);
  assert.deepEqual([second.replica, second.error, second.attempts], [undefined, 'no-server', 0]);
});

test('of a long log the worst stretch is taken, one after another', () => {
  const took = Array.from({ length: 100 }, (_, index) => (index >= 60 && index < 70 ? 500 : 5));
  const taken = [...requestsOfTable(tableOf(took), 10)];
  assert.equal(taken.length, 10);
  assert.ok(taken.every(({ startMs, endMs }) => endMs - startMs === 500));
  assert.equal([...requestsOfTable(tableOf(took), 100)].length, 100);
});
