import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEnvoyLine } from './envoy-log.ts';

const usual =
  '[2026-11-30T09:26:38.839Z] "GET /cart HTTP/1.1" 200 - 0 6 55 50 "192.0.2.2" "plimsoll" "f8b0ada4-e5e4-4851-b573-8277ac42cdcf" "127.0.0.1:45851" "api-1"';

test('a line of the default form tells when, where, how long, and for whom', () => {
  const request = parseEnvoyLine(usual);
  assert.equal(request?.startMs, Date.UTC(2026, 10, 30, 9, 26, 38, 839));
  assert.equal(request.endMs - request.startMs, 55);
  assert.deepEqual(
    [request.replica, request.client, request.service, request.error],
    ['api-1', '192.0.2.2', undefined, undefined],
  );
});

test("the lab's form says the cluster and tells connections apart", () => {
  const request = parseEnvoyLine(`${usual} api 17`);
  assert.deepEqual([request?.client, request?.service], ['192.0.2.2#17', 'api']);
});

test('flags say who failed, and the status says it where they do not', () => {
  const ended = (status: number, flags: string, upstream = 'api-1'): string | undefined =>
    parseEnvoyLine(usual.replace('200 -', `${status} ${flags}`).replace('api-1', upstream))?.error;
  assert.equal(ended(504, 'UT'), 'timeout');
  assert.equal(ended(503, 'UF,URX'), 'refused');
  assert.equal(ended(503, 'UH', '-'), 'no-server');
  assert.equal(ended(0, 'DC'), 'client-left');
  assert.equal(ended(500, '-'), 'status-5xx');
  assert.equal(ended(404, '-'), undefined);
});

test('a line of another form is none', () => {
  assert.equal(parseEnvoyLine(usual.replace(' 55 50 ', ' fifty 50 ')), undefined);
  assert.equal(parseEnvoyLine(''), undefined);
});
