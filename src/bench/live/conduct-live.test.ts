// Against a gateway that exists in arithmetic only: users who wait for their answers, four replicas, one of them slower.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conductLive, type LiveOptions, type LiveResult } from './conduct-live.ts';
import type { EndpointCounts, LiveTarget } from './target.ts';

const ids = ['api-1', 'api-2', 'api-3', 'api-4'];
const users = 64;

/** What is in flight and answered a second under a policy: the pile of a convoy stands at the slow one unless load is looked at. */
function flow(policy: string, out: ReadonlySet<string>): { rate: number; held: readonly number[] } {
  const inside = ids.map((id): number => (out.has(id) ? 0 : 1));
  const count = inside.reduce((sum, one) => sum + one, 0);
  if (policy === 'least-request') return { rate: 190, held: inside.map((one) => (one * users) / count) };
  const slow = out.has('api-3') ? 0 : 2;
  return { rate: 170, held: inside.map((one, index) => (index === slow ? users - 6 * (count - 1) : 6 * one)) };
}

class Imagined implements LiveTarget {
  readonly name = 'imagined';
  readonly log: string[] = [];
  seconds = 0;
  failing = false;
  #policy = 'round-robin';
  readonly #out = new Set<string>();
  readonly #counts = ids.map(() => ({ requests: 0, errors: 0, integral: 0 }));

  advance(): void {
    this.seconds += 1;
    const { rate, held } = flow(this.#policy, this.#out);
    for (const [index, own] of this.#counts.entries()) {
      const answered = (held[index] ?? 0) > 0 ? rate : 0;
      own.requests += answered;
      own.integral += held[index] ?? 0;
      if (this.failing && this.#policy !== 'round-robin') own.errors += answered / 2;
    }
  }
  async scrape(): Promise<readonly EndpointCounts[]> {
    const { held } = flow(this.#policy, this.#out);
    return this.#counts.map(({ requests, errors, integral }, index) => ({
      id: ids[index] ?? '',
      requests,
      errors,
      inFlight: held[index] ?? 0,
      inFlightSeconds: integral,
      healthy: true,
    }));
  }
  async policy(): Promise<string> {
    return this.#policy;
  }
  async setPolicy(policy: string): Promise<void> {
    this.#policy = policy;
    this.log.push(`policy ${policy}`);
  }
  async weightOf(): Promise<number> {
    return 3;
  }
  async setWeight(endpoint: string, weight: number): Promise<void> {
    if (weight === 0) this.#out.add(endpoint);
    else this.#out.delete(endpoint);
    this.log.push(`${endpoint} ${weight}`);
  }
}

async function conducted(target: Imagined, more: Partial<LiveOptions> = {}): Promise<LiveResult> {
  return conductLive({
    target,
    id: 'test',
    startedAt: '2026-04-02T07:00:00Z',
    plimsoll: '0',
    watchSeconds: 12,
    experimentSeconds: 6,
    users,
    tick: async () => {
      target.advance();
      return target.seconds;
    },
    confirm: async () => true,
    announce: () => undefined,
    stop: new AbortController().signal,
    ...more,
  });
}

test('what decides most for the least harm comes first, and everything is put back', async () => {
  const target = new Imagined();
  const { proposals, done, record } = await conducted(target);
  assert.ok(proposals.length >= 1);
  assert.equal(proposals[0]?.experiment.kind, 'swap-policy');
  for (const [index, one] of proposals.entries())
    assert.ok(index === 0 || one.worth <= (proposals[index - 1]?.worth ?? 0));
  assert.deepEqual(target.log.slice(0, 2), ['policy least-request', 'policy round-robin']);
  assert.equal(await target.policy(), 'round-robin');
  if (proposals.some(({ experiment }) => experiment.kind === 'kill-suspect')) {
    assert.deepEqual(target.log.slice(-2), ['api-3 0', 'api-3 3']);
  }
  assert.equal(done.length, proposals.length);
  assert.deepEqual(record.phases.map(({ line }) => line.name).slice(0, 2), ['baseline', 'swap-policy']);
  assert.ok(record.phases.every(({ ticks }) => ticks.length >= 5));
});

test('nothing is touched without a yes', async () => {
  const target = new Imagined();
  const { proposals, done } = await conducted(target, { confirm: async () => false });
  assert.ok(proposals.length >= 1);
  assert.deepEqual(done, []);
  assert.deepEqual(target.log, []);
});

test('an experiment in which requests begin to fail ends at once, and is put back', async () => {
  const target = new Imagined();
  target.failing = true;
  const { done } = await conducted(target);
  assert.match(done[0] ?? '', /ended early: 50\.0 % of the requests failed/);
  assert.deepEqual(target.log.slice(0, 2), ['policy least-request', 'policy round-robin']);
});

test('an abort in the middle puts back what was changed and begins nothing else', async () => {
  const target = new Imagined();
  const abort = new AbortController();
  const { done } = await conducted(target, {
    stop: abort.signal,
    tick: async () => {
      target.advance();
      if (target.log.length === 1) abort.abort();
      return target.seconds;
    },
  });
  assert.equal(done.length, 1);
  assert.match(done[0] ?? '', /ended by you/);
  assert.deepEqual(target.log, ['policy least-request', 'policy round-robin']);
});

test('a gateway that dies under an experiment: what could not be undone is said, with what to do', async () => {
  const target = new Imagined();
  let touched = false;
  target.setPolicy = async () => {
    if (touched) throw new Error('no answer');
    touched = true;
  };
  await assert.rejects(
    conducted(target),
    /could not be undone: no answer; do it by hand: POST \/policy \{"policy":"round-robin"\}/,
  );
});
