// The table of docs/background/lab-verdicts.md. A row is one scenario through one balancer; a run of the bench replaces the rows that it
// has measured and leaves the others as they are.

export interface VerdictRow {
  readonly scenario: string;
  /** `–` where clients ask the replicas themselves. */
  readonly gateway: string;
  readonly runs: number;
  readonly right: number;
  /** What was said instead, and for which seeds. */
  readonly else: string;
  /** Load averages of the machine at the ends of the runs: the middle one and the greatest. */
  readonly load: string;
  /** The revision that was measured. */
  readonly revision: string;
}

const columns = ['scenario', 'gateway', 'runs', 'right', 'else', 'load average', 'revision'] as const;

export function verdictPage(rows: readonly VerdictRow[]): string {
  const cells = rows.map((row) => [
    `\`${row.scenario}\``,
    row.gateway,
    row.runs,
    row.right,
    row.else,
    row.load,
    row.revision,
  ]);
  const runs = rows.reduce((sum, row) => sum + row.runs, 0);
  const right = rows.reduce((sum, row) => sum + row.right, 0);
  return [
    '# How often is the verdict of a real run right?',
    '',
    'Written by `npm run bench:verdicts`: each run is `plimsoll run` with real processes on one machine, another seed, and another replica',
    'at fault where there is one. The diagnosis sees the record only; a verdict is right when its pattern is the one that was injected and,',
    'where somebody is to blame, it names the one. A run of the command replaces the rows that it has measured.',
    '',
    `${right} of ${runs} right.`,
    '',
    `| ${columns.join(' | ')} |`,
    '| --- | --- | ---: | ---: | --- | --- | --- |',
    ...cells.map((row) => `| ${row.join(' | ')} |`),
    '',
    'The load average is that of the whole machine of two cores at the ends of the runs, the middle one and the greatest: above 2 the',
    'processes of the lab had to share the cores with somebody else’s. A replica that cannot get at a processor is slow for a reason that',
    'is no part of the scenario.',
    '',
    '`eviction-cascade` and `no-healthy-upstream` are not played through nginx, which has no active health checks that could take a replica',
    'out; `zone-skew`, `pick-first` and `connection-pinning` have no balancer; `internet-scale` is played on the scale that it states for',
    'the lab.',
    '',
  ].join('\n');
}

/** The rows of a page that was written before. */
export function rowsOfPage(page: string): readonly VerdictRow[] {
  return page.split('\n').flatMap((line): VerdictRow[] => {
    const cells = line.split('|').map((cell) => cell.trim());
    const [, scenario = '', gateway = '', runs = '', right = '', said = '', load = '', revision = ''] = cells;
    if (cells.length !== columns.length + 2 || !/^`.+`$/.test(scenario)) return [];
    return [
      {
        scenario: scenario.slice(1, -1),
        gateway,
        runs: Number(runs),
        right: Number(right),
        else: said,
        load,
        revision,
      },
    ];
  });
}

/** Old rows with the new ones in their places; in the order of `scenarios`, and within one of its balancers. */
export function mergedRows(
  old: readonly VerdictRow[],
  fresh: readonly VerdictRow[],
  scenarios: readonly string[],
): readonly VerdictRow[] {
  const isSame = (one: VerdictRow, other: VerdictRow): boolean =>
    one.scenario === other.scenario && one.gateway === other.gateway;
  const kept = old.filter((row) => !fresh.some((one) => isSame(row, one)));
  const place = ({ scenario }: VerdictRow): number => scenarios.indexOf(scenario);
  return [...kept, ...fresh]
    .filter((row) => place(row) >= 0)
    .toSorted((one, other) => place(one) - place(other) || orderOf(one.gateway) - orderOf(other.gateway));
}

const orderOf = (gateway: string): number => ['–', 'plimsoll', 'haproxy', 'nginx', 'envoy'].indexOf(gateway);
