import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import { type GeneratorFacts, limitsReached } from './limits.ts';

const group = { group: 'shop', connectionsMax: 50, waited: 0, waitingMost: 0, refused: 0, noFiles: 0, noPorts: 0 };
const fine: GeneratorFacts = { span: seconds(10), cpu: seconds(8.9), loopLatenessP99: ms(10), groups: [group] };

function check(change: Partial<GeneratorFacts>, ...expected: readonly RegExp[]): void {
  const limits = limitsReached({ ...fine, ...change });
  assert.equal(limits.length, expected.length, limits.join('\n'));
  expected.forEach((pattern, index) => assert.match(limits[index] ?? '', pattern));
}

test('just below every limit nothing is said', () => check({}));

test('a late event loop is told with its p99', () => check({ loopLatenessP99: ms(10.1) }, /late by 10\.1 ms at p99/));

test('a full core is told with its share', () => check({ cpu: seconds(9) }, /used 90 % of a core/));

test('a connection cap is told with who waited', () =>
  check(
    { groups: [{ ...group, waited: 312, waitingMost: 40 }] },
    /shop: all 50 connections .* 312 requests waited for one, 40 at once/,
  ));

test('requests that a cap kept from being sent are told', () =>
  check({ groups: [{ ...group, refused: 9 }] }, /no more could wait: 9 requests were not sent/));

test('a shortage of files or ports is told with what to look at', () =>
  check(
    { groups: [{ ...group, noFiles: 3, noPorts: 7 }] },
    /3 connections .*ulimit -n/,
    /7 connections .*ip_local_port_range/,
  ));
