// A column of bare numbers, as a shell loop leaves it: one sample a line, named for the file.

import { shareOfLines, type WholeFormat } from './format.ts';
import { parseNumber } from './quantities.ts';
import { wordsOf } from './setting-words.ts';

export const plainNumbers: WholeFormat = {
  kind: 'whole',
  name: 'column of numbers',
  recognise: (head) => (shareOfLines(head, (line) => parseNumber(line) !== undefined, 200) === 1 ? 0.45 : 0),
  read(text, sink) {
    const name = wordsOf(sink.file.replace(/^.*[/\\]/, '').replace(/\.[^.]*$/, '')).replaceAll('-', '_');
    let row = 0;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const value = parseNumber(line);
      if (value === undefined) sink.foreign(index + 1, line);
      else {
        row += 1;
        sink.sample(name, { row: String(row) }, value, { line: index + 1 });
        sink.understood();
      }
    }
  },
};
