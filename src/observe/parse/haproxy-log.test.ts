import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHaproxyLine } from './haproxy-log.ts';

const usual =
  '<134>Nov 30 06:10:00 haproxy[1201]: 127.0.0.1:40000 [30/Nov/2026:06:10:00.250] fe api/api-2 0/3/1/40/44 200 150 - - ---- 64/64/63/46/0 2/5 "GET /cart HTTP/1.1"';

test('a usual line tells when, where, how long and how many were inside', () => {
  const request = parseHaproxyLine(usual);
  assert.ok(request !== undefined);
  assert.equal(request.startMs, Date.UTC(2026, 10, 30, 6, 10, 0, 250));
  assert.equal(request.endMs - request.startMs, 44);
  assert.equal(request.handedMs - request.startMs, 3);
  assert.equal(request.replica, 'api-2');
  assert.equal(request.client, '127.0.0.1:40000');
  assert.equal(request.serverConnections, 46);
  assert.equal(request.serverQueue, 2);
  assert.equal(request.backendQueue, 5);
  assert.equal(request.attempts, 1);
  assert.equal(request.error, undefined);
});

test('the date is local time: the offset moves it', () => {
  const east = parseHaproxyLine(usual, 120);
  assert.equal(east?.startMs, Date.UTC(2026, 10, 30, 4, 10, 0, 250));
});

test('what ended a request is read from the termination state', () => {
  const ended = (state: string, status: number, server = 'api/api-1'): string | undefined =>
    parseHaproxyLine(usual.replace('----', state).replace(' 200 ', ` ${status} `).replace('api/api-2', server))?.error;
  assert.equal(ended('sH--', 504), 'timeout');
  assert.equal(ended('sQ--', 503), 'queue-timeout');
  assert.equal(ended('sC--', 503), 'connect-timeout');
  assert.equal(ended('SC--', 503), 'refused');
  assert.equal(ended('SH--', 502), 'reset');
  assert.equal(ended('CH--', -1), 'client-left');
  assert.equal(ended('SC--', 503, 'api/<NOSRV>'), 'no-server');
  assert.equal(ended('----', 500), 'status-5xx');
  assert.equal(ended('----', 404), undefined);
});

test('timers that were never reached and logs written early do not break the times', () => {
  const request = parseHaproxyLine(usual.replace('0/3/1/40/44', '-1/-1/-1/-1/+5000'));
  assert.equal(request === undefined ? undefined : request.endMs - request.startMs, 5000);
  assert.equal(request?.handedMs, request?.startMs);
});

test('lines of any other form are no requests', () => {
  for (const line of [
    '',
    'Server be_app/web1 is DOWN, reason: Layer4 timeout',
    '127.0.0.1:1 [30/Nov/2026:06:10:00.250] fe api/api-2 1/2/3 200 ---- 1/1/1/1/0 0/0',
    usual.replace('Nov/2026', 'Xxx/2026'),
    usual.slice(0, 90),
  ]) {
    assert.equal(parseHaproxyLine(line), undefined, line);
  }
});

test('a retried request counts its attempts, captured headers do not disturb', () => {
  const request = parseHaproxyLine(usual.replace('46/0 2/5', '46/+2 2/5 {shop.example|curl} {gzip}'));
  assert.equal(request?.attempts, 3);
  assert.equal(request?.backendQueue, 5);
});
