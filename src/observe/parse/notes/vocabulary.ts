// The vocabulary as the reference prints it: a table in Markdown for each group of settings.

import { settingKeys } from '../../../record.ts';
import { allKeys, kindNames, kindOf, wordsFor } from './values.ts';

/** One table a group (`balance`, `upstream`, …), in the order of the vocabulary. */
export function notesVocabulary(): string {
  const groups = Map.groupBy(allKeys, (key) => key.split('.')[0] ?? '');
  return [...groups]
    .map(([group, keys]) => {
      const rows = keys.map((key) => `| \`${key}\` | ${valueOf(key)} | ${settingKeys[key]} |`);
      return [`### ${group}`, '', '| key | value | meaning |', '| --- | --- | --- |', ...rows].join('\n');
    })
    .join('\n\n');
}

function valueOf(key: (typeof allKeys)[number]): string {
  const words = wordsFor(key);
  if (words.length > 0) return words.map((word) => `\`${word}\``).join(', ');
  return kindNames[kindOf(key) ?? 'text'];
}
