// Evidence as it comes in reality: with the line ends of another system, cut off in the middle of a line, with another program's lines
// in between, and written by clocks that disagree. The verdict is the same, or it says that it does not know; never another.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDossier } from '../../observe.ts';
import { faultKinds, healthyKinds, type Incident, incidentOf } from './incident.ts';
import { judgeFiles } from './judge-files.ts';
import { scoredOf } from './score.ts';
import type { Signal } from './writers.ts';

const wanted = [
  'slow-replica',
  'fast-fail-blackhole',
  'circuit-breaker-overflow',
  'passive-eviction-last-peer',
  'sticky-session',
  'rate-limited',
];
const kinds = [...faultKinds.filter(({ slug }) => wanted.includes(slug)), ...healthyKinds.slice(0, 1)];
const incidents = kinds.map((kind) => incidentOf(kind, 21, { missing: 0, herrings: true }));

const isLog = ({ name }: Signal): boolean => /\.(?:log|jsonl)$/.test(name);

function check(change: (file: Signal) => Signal, mayBeUndecided = false): void {
  for (const { id, files, truth } of incidents) {
    const { verdict } = judgeFiles(files.map(change));
    const { pattern, culprit, confidence } = verdict;
    const fine =
      scoredOf(id, truth, { pattern, culprit, confidence }).right || (mayBeUndecided && pattern === 'undecided');
    assert.ok(fine, `${id}: ${pattern} ${culprit ?? ''}: ${verdict.sentence}`);
  }
}

test('line ends of another system and a mark at the beginning change nothing', () => {
  check(({ name, text }) => ({ name, text: `\uFEFF${text.replaceAll('\n', '\r\n')}` }));
});

test('logs that were cut off in the middle of a line lose that line', () => {
  check((file) => (isLog(file) ? { ...file, text: file.text.slice(0, -37) } : file));
});

test('lines of another program between those of a log are told apart from them, and counted', () => {
  const mixed = (file: Signal): Signal => {
    if (!isLog(file)) return file;
    const lines = file.text
      .split('\n')
      .flatMap((line, index) =>
        index % 6 === 5 ? [line, `kernel: usb 1-${index}: new high-speed device number ${index}`] : [line],
      );
    return { ...file, text: lines.join('\n') };
  };
  check(mixed);
  const [first] = incidents.flatMap(({ files }: Incident) =>
    files.filter(({ name }) => /^(?:access|envoy-access|haproxy)/.test(name)),
  );
  assert.ok(first !== undefined);
  const [source] = readDossier([mixed(first)]).dossier.sources;
  assert.ok(source !== undefined && source.foreign.length === 5 && source.understood < source.lines);
  assert.match(source.foreign[0]?.text ?? '', /^kernel: usb/);
});

test('a clock that is seven seconds ahead of the other accuses nobody else', () => {
  const ahead = (text: string): string =>
    text.replaceAll(/"ts":"([^"]+)"/g, (_, at: string) => `"ts":"${new Date(Date.parse(at) + 7000).toISOString()}"`);
  check((file) => (file.name === 'edge.jsonl' ? { ...file, text: ahead(file.text) } : file), true);
});
