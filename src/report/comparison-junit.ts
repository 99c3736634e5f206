// A comparison as JUnit XML, as every pipeline reads it: a test a gate, an objective and one for the mechanism. What is worse failed;
// what is not settled was skipped, with what would settle it.

import type { Comparison, Effect } from '../diagnose.ts';
import { changeText } from './comparison-text.ts';

interface Case {
  readonly name: string;
  readonly failed?: string;
  readonly skipped?: string;
}

/** One document, with its declaration. */
export function comparisonJunit(comparison: Comparison): string {
  const cases = [
    ...comparison.effects.filter(({ role }) => role === 'gate').map(gateCase),
    ...comparison.objectives.map(objectiveCase),
    mechanismCase(comparison),
  ];
  const failures = cases.filter(({ failed }) => failed !== undefined).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${cases.length}" failures="${failures}">`,
    `  <testsuite name="release: ${attribute(comparison.verdict)}" tests="${cases.length}" failures="${failures}" skipped="${skipped}">`,
    ...cases.flatMap(caseLines),
    `    <system-out>${text([comparison.sentence, ...comparison.reasons, ...comparison.conditions].join('\n'))}</system-out>`,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function gateCase(effect: Effect): Case {
  const seen = `${changeText(effect, effect.change)} (95 %: ${changeText(effect, effect.low)} … ${changeText(effect, effect.high)}), matters from ${changeText(effect, effect.smallest)}`;
  const name = `${effect.name} is not worse`;
  if (effect.finding === 'worse') return { name, failed: seen };
  return effect.finding === 'unsettled' ? { name, skipped: `not settled: ${seen}` } : { name };
}

function objectiveCase({ name, finding, candidate }: Comparison['objectives'][number]): Case {
  if (finding === 'missed' || finding === 'missed before too') return { name, failed: `${finding}: ${candidate}` };
  return finding === 'unsettled' ? { name, skipped: candidate } : { name };
}

function mechanismCase({ mechanism, verdict }: Comparison): Case {
  const name = 'no new mechanism';
  if (!mechanism.moved) return { name };
  const told = [`${mechanism.candidate.pattern} instead of ${mechanism.base.pattern}`, ...mechanism.sentences].join(
    '\n',
  );
  return verdict === 'reject' ? { name, failed: told } : { name, skipped: told };
}

function caseLines({ name, failed, skipped }: Case): string[] {
  const open = `    <testcase classname="release" name="${attribute(name)}"`;
  if (failed !== undefined) {
    return [
      `${open}>`,
      `      <failure message="${attribute(failed.split('\n')[0] ?? '')}">${text(failed)}</failure>`,
      '    </testcase>',
    ];
  }
  if (skipped === undefined) return [`${open}/>`];
  return [`${open}>`, `      <skipped message="${attribute(skipped.split('\n')[0] ?? '')}"/>`, '    </testcase>'];
}

const text = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const attribute = (value: string): string => text(value).replaceAll('"', '&quot;');
