// Prometheus' text exposition format, and OpenMetrics as far as the two agree: `name{label="value",…} number [timestamp]`.
// Samples of one metric need not stand together, and a `# TYPE` line may be missing: real programs do both.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly line: number;
  /** As written: milliseconds in Prometheus' text, seconds in OpenMetrics. */
  readonly timestamp: number | undefined;
}

export interface Exposition {
  readonly samples: readonly Sample[];
  readonly types: ReadonlyMap<string, string>;
  readonly foreign: readonly { readonly line: number; readonly text: string }[];
}

export function parsePrometheus(text: string): Exposition {
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  const foreign: { line: number; text: string }[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '') continue;
    if (line.startsWith('#')) {
      const type = /^# TYPE (\S+) (\S+)/.exec(line);
      if (type !== null) types.set(type[1] ?? '', type[2] ?? '');
      continue;
    }
    const sample = parseSample(line, index + 1);
    if (sample === undefined) foreign.push({ line: index + 1, text: line });
    else samples.push(sample);
  }
  return { samples, types, foreign };
}

/** The value of the one sample with this name (and these labels); undefined when there is none. */
export function sampleOf(
  exposition: Exposition,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = Object.entries(labels);
  for (const sample of exposition.samples) {
    if (sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value)) return sample.value;
  }
  return undefined;
}

function parseSample(line: string, number: number): Sample | undefined {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0];
  if (name === undefined) return undefined;
  let at = name.length;
  while (line[at] === ' ' && line.slice(at).trimStart().startsWith('{')) at += 1;
  const labels: Record<string, string> = {};
  if (line[at] === '{') {
    const end = readLabels(line, at + 1, labels);
    if (end === undefined) return undefined;
    at = end;
  }
  const [numeral = '', stamp] = line.slice(at).trim().split(/\s+/);
  const value = parseNumber(numeral);
  if (value === undefined) return undefined;
  const timestamp = stamp === undefined || stamp === '#' ? undefined : parseNumber(stamp);
  return { name, labels, value, line: number, timestamp };
}

/** Reads `key="value",…}` from `at`; returns the index after the brace. */
function readLabels(line: string, at: number, labels: Record<string, string>): number | undefined {
  let position = at;
  while (position < line.length) {
    while (line[position] === ',' || line[position] === ' ') position += 1;
    if (line[position] === '}') return position + 1;
    const key = /^[a-zA-Z_][a-zA-Z0-9_]*/.exec(line.slice(position))?.[0];
    if (key === undefined) return undefined;
    position += key.length;
    while (line[position] === ' ') position += 1;
    if (line[position] !== '=') return undefined;
    position += 1;
    while (line[position] === ' ') position += 1;
    if (line[position] !== '"') return undefined;
    position += 1;
    let value = '';
    while (position < line.length && line[position] !== '"') {
      if (line[position] === '\\') {
        const next = line[position + 1];
        value += next === 'n' ? '\n' : (next ?? '');
        position += 2;
      } else {
        value += line[position];
        position += 1;
      }
    }
    if (line[position] !== '"') return undefined;
    position += 1;
    labels[key] = value;
  }
  return undefined;
}

function parseNumber(text: string): number | undefined {
  if (text === '+Inf' || text === 'Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  if (text === 'NaN') return Number.NaN;
  if (text === '') return undefined;
  const value = Number(text);
  return Number.isNaN(value) ? undefined : value;
}
