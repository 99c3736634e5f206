// Small dossiers for tests, fact by fact, as a reader would hand them over.

import {
  type Dossier,
  emptyDossier,
  type EventFact,
  type LoadResultFact,
  type MessageFact,
  type RequestTable,
  type SampleFact,
  type SeriesFact,
  type SettingFact,
  type SettingKey,
} from '../../../record.ts';

export function dossierOf(parts: Partial<Dossier>): Dossier {
  return { ...emptyDossier, ...parts };
}

/** `nginx | location / | upstream.read-timeout = 15 | nginx.conf`; a value in brackets is implied. One line a setting. */
export function settings(script: string): SettingFact[] {
  return linesOf(script).map((line) => {
    const [program = '', scope = '', assignment = '', file = `${program}.conf`] = line
      .split('|')
      .map((part) => part.trim());
    const [key = '', text = ''] = assignment.split('=').map((part) => part.trim());
    const implied = text.startsWith('(');
    return {
      program,
      scope,
      key: key as SettingKey,
      value: valueOf(text.replaceAll(/[()]/g, '')),
      implied,
      origin: { file },
    };
  });
}

function valueOf(text: string): number | string | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return text === '' || Number.isNaN(number) ? text : number;
}

/** `name{label=value} 1 2 3`: one value a reading. `_total` and the like are counters. */
export function samples(script: string, file = 'scrape.prom'): SampleFact[] {
  return linesOf(script).flatMap((line) => {
    const found = /^([^\s{]+)(?:\{([^}]*)\})?\s+(.*)$/.exec(line);
    const name = found?.[1] ?? '';
    const labels = labelsOf(found?.[2] ?? '');
    return (found?.[3] ?? '').split(/\s+/).map((value, reading): SampleFact => ({
      name,
      labels,
      value: Number(value),
      type: /_total$|_count$|_sum$|_rq_\w+$|overflow|_retry$|nr_\w+$/i.test(name) ? 'counter' : 'gauge',
      reading,
      atMs: undefined,
      origin: { file },
    }));
  });
}

function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const [key = '', value = ''] = pair.split('=').map((part) => part.trim());
      return key === '' ? [] : [[key, value.replaceAll('"', '')]];
    }),
  );
}

/** `name 50 50 50`: one value a second from `fromMs` on; `50x10` stands for ten of them. */
export function series(script: string, fromMs = 1_700_000_000_000, stepMs = 1000): SeriesFact[] {
  return linesOf(script).map((line) => {
    const [name = '', ...rest] = line.split(/\s+/);
    const values = rest.flatMap((word) => {
      const [value = '', times = '1'] = word.split('x');
      return Array.from({ length: Number(times) }, () => Number(value));
    });
    return {
      name,
      labels: {},
      values,
      atMs: values.map((_, index) => fromMs + index * stepMs),
      origin: { file: 'series.json' },
    };
  });
}

export interface Row {
  /** Seconds after the first. */
  readonly at?: number;
  readonly seconds?: number;
  readonly upstream?: number;
  readonly connect?: number;
  readonly queue?: number;
  readonly status?: number;
  readonly upstreamStatus?: number;
  readonly attempts?: number;
  readonly replica?: string;
  readonly route?: string;
  readonly flag?: string;
  readonly service?: string;
}

export function table(program: string, rows: readonly Row[], file = `${program}-access.log`): RequestTable {
  const texts = (pick: (row: Row) => string | undefined): { list: string[]; column: Int32Array } => {
    const list: string[] = [];
    const column = Int32Array.from(rows, (row) => {
      const text = pick(row);
      if (text === undefined) return -1;
      const known = list.indexOf(text);
      return known >= 0 ? known : list.push(text) - 1;
    });
    return { list, column };
  };
  const [replica, route, flag, service, none] = [
    texts((row) => row.replica),
    texts((row) => row.route),
    texts((row) => row.flag),
    texts((row) => row.service),
    texts(() => undefined),
  ];
  const floats = (pick: (row: Row) => number | undefined): Float64Array =>
    Float64Array.from(rows, (row) => pick(row) ?? Number.NaN);
  return {
    program,
    origin: { file },
    count: rows.length,
    skipped: 0,
    startMs: floats((row) => (row.at === undefined ? undefined : 1_700_000_000_000 + row.at * 1000)),
    seconds: floats((row) => row.seconds),
    upstreamSeconds: floats((row) => row.upstream),
    queueSeconds: floats((row) => row.queue),
    connectSeconds: floats((row) => row.connect),
    status: Int16Array.from(rows, (row) => row.status ?? -1),
    upstreamStatus: Int16Array.from(rows, (row) => row.upstreamStatus ?? -1),
    attempts: Int32Array.from(rows, (row) => row.attempts ?? -1),
    replica: replica.column,
    client: none.column,
    route: route.column,
    flag: flag.column,
    service: service.column,
    worker: none.column,
    replicas: replica.list,
    clients: [],
    routes: route.list,
    flags: flag.list,
    services: service.list,
    workers: [],
    stepMs: 1,
  };
}

export function result(
  tool: string,
  parts: Omit<LoadResultFact, 'tool' | 'origin' | 'run'> & { readonly run?: string },
): LoadResultFact {
  const run = parts.run ?? `${tool}.json`;
  return { ...parts, tool, run, origin: { file: run } };
}

export function said(program: string, code: string, text: string, count = 1): MessageFact[] {
  return Array.from({ length: count }, (_, index) => ({
    program,
    code,
    text,
    atMs: 1_700_000_000_000 + index * 1000,
    origin: { file: `${program}.log`, line: index + 1 },
  }));
}

/** `12 trigger-start database | slow`: seconds after the first, event, subject, detail. */
export function events(script: string, fromMs = 1_700_000_000_000): EventFact[] {
  return linesOf(script).map((line) => {
    const [head = '', detail] = line.split('|').map((part) => part.trim());
    const [at = '0', event = '', ...subject] = head.split(/\s+/);
    return {
      atMs: fromMs + Number(at) * 1000,
      event,
      origin: { file: 'events.jsonl' },
      ...(subject.length === 0 ? {} : { subject: subject.join(' ') }),
      ...(detail === undefined ? {} : { detail }),
    };
  });
}

function linesOf(script: string): string[] {
  return script
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
