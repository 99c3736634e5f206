// What k6 was told to do: its options as JSON, or in a script (`export const options = {…}`), which is read as far as it is data.
//
//   {"scenarios": {"burst": {"executor": "constant-arrival-rate", "rate": 1000, "timeUnit": "1s", "duration": "60s", "maxVUs": 137}}}
//   {"vus": 320, "duration": "60s", "noConnectionReuse": true}
//   {"stages": [{"duration": "2m", "target": 200}, {"duration": "30s", "target": 0}]}
//
// Executors with `arrival-rate` in their name send by a clock: an open loop. All others are users who wait: a closed one.
// Where `maxVUs` is missing there are never more users than `preAllocatedVUs`.

import type { SettingKey } from '../../../record.ts';
import { firstLines, type WholeFormat } from '../format.ts';
import { isJsonWith, numberAt } from '../json-tree.ts';
import { parseSeconds } from '../quantities.ts';
import type { Sink } from '../sink.ts';
import { itemsAt, type MapTree, parseTrees, textAt, type Tree, under, valueAt } from '../tree.ts';

const script = /\bfrom\s+['"]k6(?:\/[\w/]+)?['"]|\brequire\(['"]k6/;
const optionsAt = /\boptions\s*(?::\s*\w+\s*)?=\s*\{/;
const sleepAt = /\bsleep\(\s*([\d.]+)\s*\)/;

export const k6Options: WholeFormat = {
  kind: 'whole',
  name: 'k6 options',
  recognise(head) {
    if (script.test(head)) return 0.95;
    if (isJsonWith(head, 'scenarios', 'executor')) return 0.95;
    // Flat options without stages are settings like others.
    return isJsonWith(head, 'stages', 'target', 'duration') ? 0.9 : 0;
  },
  read(text, sink) {
    const isScript = script.test(text) && !/^\s*\{/.test(text);
    const tree = isScript ? optionsOf(text) : parseTrees(text)?.[0];
    if (isScript) {
      sink.understood();
      readScript(text, sink);
    }
    if (tree?.kind !== 'map') {
      if (!isScript) sink.foreign(1, firstLines(text, 1)[0] ?? '');
      return;
    }
    readOptions(tree, isScript ? lineOf(text, optionsAt) - 1 : 0, sink);
  },
};

/** The object of the options. JavaScript's literals are close enough to YAML's; what is computed is left out by its parser. */
function optionsOf(text: string): Tree | undefined {
  const found = optionsAt.exec(text);
  if (found === null) return undefined;
  const begin = found.index + found[0].length - 1;
  let depth = 0;
  for (let at = begin; at < text.length; at++) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) {
      const data = text
        .slice(begin, at + 1)
        .replaceAll(/(^|\s)\/\/[^\n]*/g, '$1')
        .replaceAll(/\/\*[^]*?\*\//g, '');
      return parseTrees(data)?.[0];
    }
  }
  return undefined;
}

function lineOf(text: string, pattern: RegExp): number {
  const found = pattern.exec(text);
  return found === null ? 1 : text.slice(0, found.index).split('\n').length;
}

function readScript(text: string, sink: Sink): void {
  const pause = sleepAt.exec(text)?.[1];
  if (pause === undefined) return;
  const where = { program: 'load-generator', scope: scopeOf(sink), line: lineOf(text, sleepAt) };
  sink.setting({ ...where, key: 'load.think-time', value: Number(pause) });
}

function scopeOf(sink: Sink): string {
  return sink.file.replace(/^.*[/\\]/, '').replace(/\.[^.]*$/, '');
}

function readOptions(options: MapTree, lineOffset: number, sink: Sink): void {
  const scope = scopeOf(sink);
  const setting = (
    line: number | undefined,
    key: SettingKey,
    value: number | string | boolean,
    implied = false,
  ): void => {
    const at = line === undefined ? undefined : line + lineOffset;
    sink.setting({ program: 'load-generator', scope, key, value, implied, line: at });
  };
  for (const [name, inner] of options.entries) {
    // Passed over: thresholds, tags, tls and the like bind no load.
    sink.understood();
    if (name === 'noConnectionReuse' || name === 'noVUConnectionReuse') {
      if (inner.kind === 'scalar' && inner.value === true) setting(inner.line, 'load.reuses-connections', false);
    }
    const most = name === 'rps' ? numberAt(options, 'rps') : undefined;
    if (most !== undefined && most > 0) setting(inner.line, 'load.rate', most);
  }
  const scenarios = under(options, 'scenarios');
  if (scenarios?.kind !== 'map') {
    if (['vus', 'stages', 'iterations', 'duration'].some((key) => options.entries.has(key))) {
      readScenario(options, scope, lineOffset, sink);
    }
    return;
  }
  for (const [name, scenario] of scenarios.entries) {
    if (scenario.kind === 'map') readScenario(scenario, name, lineOffset, sink);
  }
}

function readScenario(scenario: MapTree, scope: string, lineOffset: number, sink: Sink): void {
  const write = (key: SettingKey, value: number | string | undefined, at: Tree | undefined, implied = false): void => {
    const line = (at ?? scenario).line;
    if (value === undefined) return;
    sink.setting({
      program: 'load-generator',
      scope,
      key,
      value,
      implied,
      line: line === undefined ? undefined : line + lineOffset,
    });
  };
  const executor = textAt(scenario, 'executor');
  const isOpen = executor?.includes('arrival-rate') === true;
  write('load.model', isOpen ? 'open' : 'closed', under(scenario, 'executor'), executor === undefined);
  const stages = itemsAt(scenario, 'stages');
  const target = stages.reduce((most, stage) => Math.max(most, numberAt(stage, 'target') ?? 0), 0);
  const perUnit = parseSeconds(valueAt(scenario, 'timeUnit')) ?? 1;
  const counted = (key: string): number | undefined => numberAt(scenario, key);
  const rate = stages.length > 0 ? Math.max(target, counted('startRate') ?? 0) : counted('rate');
  if (isOpen && rate !== undefined) write('load.rate', rate / perUnit, under(scenario, 'rate') ?? stages[0]);
  const lengths = stages.map((stage) => parseSeconds(valueAt(stage, 'duration')) ?? 0);
  const seconds =
    stages.length > 0 ? lengths.reduce((sum, one) => sum + one, 0) : parseSeconds(valueAt(scenario, 'duration'));
  write('load.seconds', seconds, under(scenario, 'duration') ?? stages[0]);
  if (isOpen) {
    const ready = counted('preAllocatedVUs');
    write('load.users', ready, under(scenario, 'preAllocatedVUs'));
    const most = counted('maxVUs');
    write('load.users-max', most ?? ready, under(scenario, 'maxVUs'), most === undefined);
  } else {
    const users = stages.length > 0 ? Math.max(target, counted('startVUs') ?? 0) : counted('vus');
    // One user, unless told otherwise.
    write('load.users', users ?? 1, under(scenario, 'vus') ?? stages[0], users === undefined);
  }
}
