// A strict reading of Prometheus' text format 0.0.4, for pages that must be valid: what `promtool check metrics` would find,
// and that families stand together, in the order HELP, TYPE, samples. For tests only.

import assert from 'node:assert/strict';

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelPair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;
const numberForm = /^(?:[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\+Inf|-Inf|NaN)$/;

/** Throws what is wrong with the page. */
export function assertPrometheusText(page: string): void {
  assert.ok(page.endsWith('\n'), 'the last line ends');
  const families = new Set<string>();
  const series = new Set<string>();
  let help: string | undefined;
  let family: string | undefined;
  let type = '';
  for (const line of page.slice(0, -1).split('\n')) {
    const [hash, kind, name = '', ...rest] = line.split(' ');
    if (hash === '#' && kind === 'HELP') {
      assert.match(name, metricName);
      assert.ok(rest.join(' ').trim() !== '', `${name} has a help text`);
      help = name;
      family = undefined;
    } else if (hash === '#' && kind === 'TYPE') {
      assert.equal(name, help, `HELP stands before TYPE of ${name}`);
      assert.ok(!families.has(name), `${name} is one family`);
      families.add(name);
      type = rest.join(' ');
      assert.ok(['counter', 'gauge'].includes(type), line);
      assert.equal(name.endsWith('_total'), type === 'counter', `${name}: counters, and they alone, end in _total`);
      family = name;
    } else {
      const match = sampleLine.exec(line);
      assert.ok(match !== null, `a sample: ${line}`);
      assert.equal(match[1], family, `a sample of the family that stands above it: ${line}`);
      assertLabels(match[2] ?? '', line);
      assert.match(match[3] ?? '', numberForm, line);
      if (type === 'counter') assert.ok(Number(match[3]) >= 0, `a counter counts up from 0: ${line}`);
      const key = `${match[1]}{${match[2] ?? ''}}`;
      assert.ok(!series.has(key), `one sample of a series: ${line}`);
      series.add(key);
    }
  }
}

function assertLabels(text: string, line: string): void {
  const names = new Set<string>();
  for (let rest = text; rest !== '';) {
    const match = labelPair.exec(rest);
    assert.ok(match !== null, `labels: ${line}`);
    assert.ok(!names.has(match[1] ?? ''), `a label once: ${line}`);
    names.add(match[1] ?? '');
    rest = rest.slice(match[0].length);
  }
}
