import { test } from 'node:test';
import assert from 'node:assert/strict';
import { isForTests, isPure, roomOf, testsPure } from './rooms.ts';

test('a path belongs to the room whose door or folder it is', () => {
  assert.equal(roomOf('src/policy.ts')?.name, 'policy');
  assert.equal(roomOf('src/policy/balance/balancer.ts')?.name, 'policy');
  assert.equal(roomOf('src/policies/a.ts'), undefined);
  assert.equal(roomOf('tools/policy.ts'), undefined);
});

test('product code of a pure room is pure, and its tests run behind the guard', () => {
  for (const path of ['src/base/time.ts', 'src/base.ts', 'src/observe/parse/csv.ts', 'src/observe/seen.ts']) {
    assert.equal(isPure(path), true, path);
    assert.equal(testsPure(path), false, path);
  }
  for (const ending of ['test', 'fuzz', 'bench', 'fuzz.test']) {
    for (const place of ['src/base/time', 'src/observe/parse/csv', 'src/observe/seen']) {
      const path = `${place}.${ending}.ts`;
      assert.equal(isForTests(path), true, path);
      assert.equal(isPure(path), false, path);
      assert.equal(testsPure(path), true, path);
    }
  }
});

test('what stands in testing/ is for tests, is not pure, and is no test itself', () => {
  const path = 'src/wire/http1/testing/peer.ts';
  assert.equal(isForTests(path), true);
  assert.equal(isPure(path), false);
  assert.equal(testsPure(path), false);
  assert.equal(testsPure(path.replace('.ts', '.test.ts')), true);
});

test('a room that acts is not pure, nor is anything outside the rooms', () => {
  for (const path of ['src/host/clock.ts', 'src/observe/fetch.ts', 'tools/tree.ts']) {
    assert.equal(isPure(path), false, path);
    assert.equal(testsPure(path.replace('.ts', '.test.ts')), false, path);
  }
});
