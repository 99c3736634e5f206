// A comparison as Markdown, for the comment under a change.

import type { Comparison } from '../diagnose.ts';
import { changeText } from './comparison-text.ts';
import { figureText } from './intervals-text.ts';

export function comparisonMarkdown(comparison: Comparison): string[] {
  const { verdict, sentence, reasons, conditions, effects, objectives, runs } = comparison;
  return [
    `# ${verdict}`,
    '',
    sentence,
    '',
    ...reasons.map((reason) => `- ${reason}`),
    ...section(verdict === 'reject' ? 'Besides' : 'Open', conditions),
    '',
    `| figure | base (${runs.base}) | candidate (${runs.candidate}) | change | 95 % interval | finding |`,
    '| --- | ---: | ---: | ---: | ---: | --- |',
    ...effects.map(
      (effect) =>
        `| ${effect.name} | ${figureText(effect.base, effect.unit)} | ${figureText(effect.candidate, effect.unit)} | ${changeText(effect, effect.change)} | ${changeText(effect, effect.low)} … ${changeText(effect, effect.high)} | ${effect.finding} |`,
    ),
    ...(objectives.length === 0
      ? []
      : [
          '',
          '| objective | base | candidate | finding |',
          '| --- | --- | --- | --- |',
          ...objectives.map((one) => `| \`${one.name}\` | ${one.base} | ${one.candidate} | ${one.finding} |`),
        ]),
  ];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines.map((line) => `- ${line}`)];
