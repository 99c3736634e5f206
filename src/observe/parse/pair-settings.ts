// Settings as pairs, one a line: `.env` files, Java properties, exported variables, ini files.

import { shareOfLines, type WholeFormat } from './format.ts';
import { matterOf, settingOf } from './setting-words.ts';

const pair = /^\s*(?:export\s+|set\s+)?([A-Za-z_][\w.-]*)\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|(.*?))\s*(?:;\s*)?$/;
const other = /^\s*(?:[#!;]|\/\/|\[[^\]]*\]\s*$)/;
const equals = /^\s*(?:export\s+|set\s+)?[A-Za-z_][\w.-]*\s*=/;

export const pairSettings: WholeFormat = {
  kind: 'whole',
  name: 'settings as pairs',
  recognise(head) {
    const pairs = shareOfLines(head, (line) => equals.test(line) && !/^\s*\S+=\S+\s+\S+=/.test(line));
    const rest = shareOfLines(head, (line) => other.test(line));
    return pairs > 0 && pairs + rest > 0.9 ? 0.5 : 0;
  },
  read(text, sink) {
    const lines = text.split('\n');
    const names = lines.flatMap((line) => (other.test(line) ? [] : (pair.exec(line)?.[1] ?? [])));
    const matter = matterOf(names) === 'load' ? 'load' : 'environment';
    const scope = sink.file.replace(/^.*[/\\]/, '');
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '' || other.test(line)) continue;
      const found = pair.exec(line);
      const value = found?.[2] ?? found?.[3] ?? found?.[4];
      const setting = settingOf(found?.[1] ?? '', value, matter);
      if (setting === undefined) sink.foreign(index + 1, line);
      else {
        sink.setting({ program: 'environment', scope, ...setting, line: index + 1 });
        sink.understood();
      }
    }
  },
};
