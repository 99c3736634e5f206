import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ms, seconds } from '../base.ts';
import { ChildProgram } from './child-program.ts';

interface Watched {
  readonly child: ChildProgram;
  readonly lines: readonly string[];
  readonly lost: readonly string[];
}

function start(context: TestContext, script: string): Watched {
  const lines: string[] = [];
  const lost: string[] = [];
  const child = new ChildProgram({
    name: 'child',
    command: ['/bin/sh', '-c', script],
    token: 'child-program-test',
    onLine: (line) => lines.push(line),
    onLost: (how) => lost.push(how),
  });
  context.after(() => child.kill());
  return { child, lines, lost };
}

test('the ready line is read, what is said after it is passed on', async (context) => {
  const { child, lines } = start(
    context,
    `echo '{"ready":true,"port":4000,"admin_port":4001}'; echo more; echo worse >&2`,
  );
  assert.deepEqual(await child.ready(), { port: 4000, adminPort: 4001, version: undefined });
  assert.equal(await child.ended, 'it ended with code 0');
  assert.deepEqual(lines.toSorted(), ['more', 'worse']);
});

test('a program that ends by itself after it was ready is lost, with its last words', async (context) => {
  const { child, lost } = start(context, `echo '{"ready":true}'; read line; echo no memory >&2; exit 7`);
  await child.ready();
  child.write('go on');
  await child.ended;
  assert.deepEqual(lost, ['it ended with code 7\n  child: no memory']);
});

test('one that was asked to end is not lost', async (context) => {
  const { child, lost } = start(context, `echo '{"ready":true}'; exec sleep 60`);
  await child.ready();
  await child.end(seconds(5));
  assert.equal(await child.ended, 'it was ended by SIGTERM');
  assert.equal(child.running, false);
  assert.deepEqual(lost, []);
});

test('one that does not listen is killed when patience is over, with its own children', async (context) => {
  const { child } = start(context, `trap '' TERM; echo '{"ready":true}'; sleep 60; sleep 60`);
  await child.ready();
  await child.end(ms(50));
  assert.equal(await child.ended, 'it was ended by SIGKILL');
});

test('its end is not held up by a child of its own that keeps the pipe open', async (context) => {
  const { child } = start(context, `sleep 2 & echo '{"ready":true}'`);
  await child.ready();
  const begun = performance.now();
  await child.ended;
  assert.ok(performance.now() - begun < 1500);
});

test('so many lines are passed on, then one that says that there are more', async (context) => {
  const { child, lines } = start(context, `i=0; while [ $i -lt 300 ]; do echo line $i >&2; i=$((i+1)); done`);
  await child.ended;
  assert.equal(lines.length, 201);
  assert.deepEqual(lines.slice(198), ['line 198', 'line 199', 'it says more, which is not passed on']);
});
