// Envoy's `/stats` page, as text (`name: value`) or JSON (`?format=json`), as samples under the names of its Prometheus page.
// Histograms on the text page are quantiles, `P50(interval,since start)`; the second is taken.

import { envoyName, isEnvoyGauge } from './envoy-names.ts';
import { shareOfLines, type WholeFormat } from './format.ts';
import type { Sink } from './sink.ts';
import { itemsAt, parseJson, textAt, treeOf, valueAt } from './tree.ts';

const statLine = /^([a-z_][\w.|:\-[\]/<>;= ,+]*?): (-?\d+|P0\(.*|No recorded values|".*")$/i;
const ours =
  /^(?:cluster\.[^:]+\.|http\.|listener\.|listener_manager\.|cluster_manager\.|server\.|runtime\.|main_thread\.|workers\.|vhost\.|tcp\.|tls_inspector)/;

export const envoyStats: WholeFormat = {
  kind: 'whole',
  name: 'Envoy statistics',
  recognise(head) {
    if (/^\s*\{\s*"stats"\s*:\s*\[/.test(head)) return 0.95;
    return shareOfLines(head, (line) => statLine.test(line) && ours.test(line));
  },
  read(text, sink) {
    if (text.trimStart().startsWith('{')) readJson(text, sink);
    else
      for (const [index, line] of text.split('\n').entries()) if (line.trim() !== '') readLine(line, index + 1, sink);
  },
};

function readLine(text: string, line: number, sink: Sink): void {
  const found = statLine.exec(text.trimEnd());
  const stat = found?.[1];
  const value = found?.[2] ?? '';
  if (stat === undefined) {
    sink.foreign(line, text);
    return;
  }
  sink.understood();
  if (value.startsWith('P0(')) readQuantiles(stat, value, line, sink);
  else if (/^-?\d+$/.test(value)) write(stat, Number(value), line, sink);
}

function write(stat: string, value: number, line: number | undefined, sink: Sink): void {
  const { name, labels } = envoyName(stat);
  sink.sample(name, labels, value, { type: isEnvoyGauge(name) ? 'gauge' : 'counter', line });
}

function readQuantiles(stat: string, text: string, line: number, sink: Sink): void {
  const { name, labels } = envoyName(stat);
  for (const found of text.matchAll(/P([\d.]+)\(([^,)]+),([^)]+)\)/g)) {
    const value = Number(found[3]);
    if (Number.isNaN(value)) continue;
    sink.sample(name, { ...labels, quantile: String(Number(found[1]) / 100) }, value, { type: 'gauge', line });
  }
}

function readJson(text: string, sink: Sink): void {
  for (const stat of itemsAt(treeOf(parseJson(text)), 'stats')) {
    const name = textAt(stat, 'name');
    const value = valueAt(stat, 'value');
    if (name === undefined || typeof value !== 'number') continue;
    write(name, value, undefined, sink);
    sink.understood();
  }
}
