// A comparison as JUnit XML: a test a gate, an objective and one for the mechanism. What is worse failed; what is not settled was
// skipped, with what would settle it.

import type { Comparison, Effect } from '../diagnose.ts';
import { changeText } from './comparison-text.ts';
import { type JunitCase, junitText } from './junit.ts';

/** One document, with its declaration. */
export function comparisonJunit(comparison: Comparison): string {
  return junitText({
    name: `release: ${comparison.verdict}`,
    className: 'release',
    cases: [
      ...comparison.effects.filter(({ role }) => role === 'gate').map(gateCase),
      ...comparison.objectives.map(objectiveCase),
      mechanismCase(comparison),
    ],
    output: [comparison.sentence, ...comparison.reasons, ...comparison.conditions].join('\n'),
  });
}

function gateCase(effect: Effect): JunitCase {
  const seen = `${changeText(effect, effect.change)} (95 %: ${changeText(effect, effect.low)} … ${changeText(effect, effect.high)}), matters from ${changeText(effect, effect.smallest)}`;
  const name = `${effect.name} is not worse`;
  if (effect.finding === 'worse') return failed(name, seen);
  return effect.finding === 'unsettled' ? skipped(name, `not settled: ${seen}`) : { name };
}

function objectiveCase({ name, finding, candidate }: Comparison['objectives'][number]): JunitCase {
  if (finding === 'missed' || finding === 'missed before too') return failed(name, `${finding}: ${candidate}`);
  return finding === 'unsettled' ? skipped(name, candidate) : { name };
}

function mechanismCase({ mechanism, verdict }: Comparison): JunitCase {
  const name = 'no new mechanism';
  if (!mechanism.moved) return { name };
  const told = [`${mechanism.candidate.pattern} instead of ${mechanism.base.pattern}`, ...mechanism.sentences].join(
    '\n',
  );
  return verdict === 'reject' ? failed(name, told) : skipped(name, told);
}

const failed = (name: string, why: string): JunitCase => ({ name, end: { kind: 'failure', why } });
const skipped = (name: string, why: string): JunitCase => ({ name, end: { kind: 'skipped', why } });
