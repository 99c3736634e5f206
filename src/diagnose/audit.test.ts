import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare, type Result } from './audit.ts';
import { theories } from './theories.ts';
import type { Bearing } from './theory.ts';
import { explainTheory } from './catalogue.ts';

/**
 * A drawing: `[` and `]` bound the prediction, `(` and `)` the observation, `o` its value. A bracket that is not there is a
 * side that is open.
 */
function judge(drawing: string, bearing: Bearing): Result {
  const at = (mark: string): number | undefined => (drawing.includes(mark) ? drawing.indexOf(mark) : undefined);
  const [low, high, value] = [at('['), at(']'), at('o')];
  assert.ok(value !== undefined);
  const predicted = {
    ...(low === undefined ? {} : { low }),
    ...(high === undefined ? {} : { high }),
    unit: 'times' as const,
  };
  return compare(predicted, { value, low: at('(') ?? value, high: at(')') ?? value }, bearing);
}

test('what was predicted is held against what was seen, by their intervals', () => {
  const drawings: readonly (readonly [string, Result, Result])[] = [
    //                       necessary      sufficient
    ['  [    (o)    ]    ', 'supports', 'supports'],
    ['  [        (o ] )  ', 'supports', 'untestable'],
    ['  [        (  ] o )', 'untestable', 'untestable'],
    ['  [        ]  (o)  ', 'contradicts', 'contradicts'],
    ['(o) [        ]     ', 'contradicts', 'contradicts'],
    ['     o  ]          ', 'supports', 'supports'],
    ['  [  o             ', 'supports', 'supports'],
    [' o [               ', 'contradicts', 'contradicts'],
  ];
  for (const [drawing, necessary, sufficient] of drawings) {
    assert.equal(judge(drawing, 'necessary'), necessary, drawing);
    assert.equal(judge(drawing, 'supporting'), necessary, drawing);
    assert.equal(judge(drawing, 'sufficient'), sufficient, drawing);
  }
});

test('every theory has a page, look-alikes that exist, and a slug of its own', () => {
  const slugs = theories.map((theory) => theory.slug);
  assert.equal(new Set(slugs).size, slugs.length);
  for (const theory of theories) {
    for (const other of theory.lookAlikes)
      assert.ok(
        slugs.some((slug) => slug === other),
        `${theory.slug}: ${other}`,
      );
    const page = explainTheory(theory.slug);
    assert.ok(page?.startsWith(`# ${theory.title}`) && page.includes('**Refuted by:**'));
  }
  assert.equal(explainTheory('phase-of-the-moon'), undefined);
});
