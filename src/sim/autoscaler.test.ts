import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Autoscaler, type AutoscalerSettings, type Observation, recommended } from './autoscaler.ts';

const settings: AutoscalerSettings = { min: 1, max: 20, target: 0.5, tolerance: 0.1, scaleDownAfter: 300 };

/** Each line of the script is a time, what is seen and how many are wanted then: `15  ready 0.9 0.9  starting 1  → 4`. */
function check(script: string, changed: Partial<AutoscalerSettings> = {}): void {
  const autoscaler = new Autoscaler({ ...settings, ...changed });
  for (const line of script.trim().split('\n')) {
    const [seen = '', wanted = ''] = line.split('→');
    const [at = '0'] = seen.trim().split(/\s+/);
    const numbers = (word: string): readonly number[] =>
      (new RegExp(`${word} ([\\d. ]+)`).exec(seen)?.[1] ?? '').split(' ').filter(Boolean).map(Number);
    const observation: Observation = {
      loads: numbers('ready'),
      starting: numbers('starting')[0] ?? 0,
      silent: numbers('silent')[0] ?? 0,
    };
    assert.equal(autoscaler.decide(observation, Number(at)), Number(wanted), line);
  }
}

test('desired is current times load by target, rounded up', () => {
  check(`
    0   ready 0.8 0.8          → 4
    15  ready 0.6 0.6 0.6 0.6  → 5
  `);
  check('0  ready 1 0 0 0  → 2', { scaleDownAfter: 0 });
});

test('a ratio within the tolerance of one changes nothing, and the next one does', () => {
  check(`
    0   ready 0.55 0.55 → 2
    15  ready 0.45 0.45 → 2
    30  ready 0.56 0.56 → 3
  `);
});

test('who is being started counts as idle on the way up, so that one surge is not answered twice', () => {
  check(`
    0   ready 1 1             → 4
    15  ready 1 1  starting 2 → 4
    30  ready 1 1 0.6 0.6     → 7
  `);
});

test('who does not answer speaks against any change: idle on the way up, at its target on the way down', () => {
  check('0  ready 0.6 0.6 0.6  silent 1  → 4');
  check('0  ready 0.1  silent 3  → 4', { scaleDownAfter: 0 });
  check('0  ready 0.1 0.1 0.1  silent 1  → 2', { scaleDownAfter: 0 });
  check('0  silent 4  → 4');
});

test('down goes to the highest recommendation of the window, once all of the window is lower', () => {
  check(`
    0    ready 0.1 0.1 0.1 0.1 → 4
    100  ready 0.1 0.1 0.1 0.1 → 4
    200  ready 0.3 0.3 0.3 0.3 → 4
    299  ready 0.1 0.1 0.1 0.1 → 4
    300  ready 0.1 0.1 0.1 0.1 → 3
    499  ready 0.1 0.1 0.1     → 3
    500  ready 0.1 0.1 0.1     → 1
  `);
});

test('up goes at once, by no more than the double or four in a round', () => {
  check('0  ready 1  → 2');
  check('0  ready 1  → 5', { target: 0.05 });
  check('0  ready 1 1 1 1 1 1  → 12', { target: 0.1 });
});

test('a target so high that even full replicas are within the tolerance asks for nobody', () => {
  check('0  ready 1 1 → 2', { target: 0.95 });
});

test('nobody leaves the bounds, and within them the end is a fixed point of the formula', () => {
  const cases = fc.record({
    min: fc.integer({ min: 1, max: 5 }),
    span: fc.integer({ min: 0, max: 30 }),
    start: fc.double({ min: 0, max: 1, noNaN: true }),
    target: fc.double({ min: 0.05, max: 1, noNaN: true }),
    tolerance: fc.constantFrom(0, 0.1, 0.3),
    demand: fc.double({ min: 0, max: 30, noNaN: true }),
  });
  fc.assert(
    fc.property(cases, ({ min, span, start, target, tolerance, demand }) => {
      const max = min + span;
      const autoscaler = new Autoscaler({ min, max, target, tolerance, scaleDownAfter: 60 });
      let count = min + Math.round(start * span);
      const seen = (): Observation => ({
        loads: Array.from({ length: count }, () => Math.min(1, demand / count)),
        starting: 0,
        silent: 0,
      });
      for (let round = 0; round < 100; round++) {
        count = autoscaler.decide(seen(), 15 * round);
        assert.ok(count >= min && count <= max);
      }
      const next = Math.min(max, Math.max(min, recommended(seen(), { target, tolerance })));
      assert.equal(next, count, 'the formula would leave it as it is');
      // ⌈demand ÷ target⌉, as far as the tolerance lets it come.
      const ideal = Math.min(max, Math.max(min, Math.ceil(demand / target - 1e-9)));
      const load = Math.min(1, demand / count);
      assert.ok(count === ideal || Math.abs(load / target - 1) <= tolerance + 1e-9, `${count}, not ${ideal}`);
    }),
  );
});
