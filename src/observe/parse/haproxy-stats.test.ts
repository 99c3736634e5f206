import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHaproxyStats, parseHaproxyStats, statistic } from './haproxy-stats.ts';

const text = [
  '# pxname,svname,qcur,scur,stot,status,type,last_chk,-,algo,',
  'fe,FRONTEND,,64,900,OPEN,0,,-,,',
  'api,api-1,0,4,225,UP,2,"L7OK, fast",-,,',
  'api,api-2,3,46,225,UP 1/2,2,"say ""hi""",-,,',
  'api,BACKEND,0,50,450,UP,1,,-,roundrobin,',
  'broken',
].join('\r\n');

test('rows are read by column name, with quoted cells and a trailing comma', () => {
  assert.ok(isHaproxyStats(text));
  const { rows, broken } = parseHaproxyStats(text);
  assert.equal(broken.length, 1);
  assert.deepEqual(
    rows.map((row) => [row.server, row.kind]),
    [
      ['FRONTEND', 'frontend'],
      ['api-1', 'server'],
      ['api-2', 'server'],
      ['BACKEND', 'backend'],
    ],
  );
  const hot = rows[2];
  assert.ok(hot !== undefined);
  assert.equal(statistic(hot, 'scur'), 46);
  assert.equal(statistic(hot, 'algo'), undefined);
  assert.equal(statistic(hot, 'status'), undefined);
  assert.equal(hot.cells.get('last_chk'), 'say "hi"');
  assert.equal(rows[3]?.cells.get('algo'), 'roundrobin');
});

test('a columns line without the type column still tells servers from backends', () => {
  const { rows } = parseHaproxyStats('# pxname,svname,scur\nf,FRONTEND,1\nb,BACKEND,2\nb,s,3\n');
  assert.deepEqual(
    rows.map((row) => row.kind),
    ['frontend', 'backend', 'server'],
  );
});

test('other text is not taken for statistics', () => {
  assert.equal(isHaproxyStats('pxname,svname\n'), false);
  assert.equal(isHaproxyStats('{"a":1}'), false);
});
