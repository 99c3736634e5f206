// The benchmark as a page of docs/background: what was right, what was said instead, what a confidence was worth, and the baselines.

import { binomialUpperBound } from '../../stats.ts';
import { calibrationOf, confusionOf, isCalm, type Scored, scoreOf } from './score.ts';

interface Tally {
  readonly hits: number;
  readonly accused: number;
}

export interface Condition {
  readonly missing: number;
  readonly scored: readonly Scored[];
  readonly baselines: { readonly z: Tally; readonly robust: Tally };
  /** Incidents in which one component is to blame; and of them, those that we had right. */
  readonly named: number;
  readonly own: number;
  readonly calm: number;
}

export function benchmarkPage(
  conditions: readonly Condition[],
  { seed, each }: { readonly seed: number; readonly each: number },
): string {
  return [
    '# How often is the diagnosis of an incident right?',
    '',
    'Written by `npm run bench:incidents`. Incidents are generated from seeds, as files in the formats of the programs that would have',
    'written them, and read like anybody else’s: logs, metrics, configurations, kernel counters. Most traffic is played by the',
    'simulator. Beside the evidence lie one to three things that have nothing to do with it (a batch job, somebody else’s deploy, a',
    'processor that rises elsewhere at that moment, throttled batch pods, restarts, a noisy log, a late alert). The truth is opened by the',
    `scorer only. ${each} incidents of each of ${new Set(conditions[0]?.scored.filter(({ truth }) => truth.pattern !== 'healthy').map(({ truth }) => truth.pattern)).size} kinds, seeds from ${seed} on, which were not used while developing.`,
    '',
    '| | all the evidence | a third of it missing |',
    '| --- | ---: | ---: |',
    ...rows(conditions),
    '',
    'Right: the pattern, and where one component is to blame, that component. With a third of the files missing the decisive one is often',
    'among them; then _undecided_ and what would decide is the honest answer, and it is counted as not right. Generated incidents are',
    'purer than real ones: these numbers compare versions and methods, and promise nothing about an incident of yours.',
    '',
    'Where nothing was wrong the fleets are busy, uneven by chance, in bursts, in the middle of a deploy, newly grown, in one zone or two,',
    'beside a noisy neighbour, with the few errors and short pauses that everybody has, with a canary, a replica in maintenance, users who',
    'think, one replica or fourteen, or at night, when there are too few requests to say anything (there _undecided_ is as right).',
    '',
    '## Baselines',
    '',
    'Anomaly scorers name a component and no mechanism, so only that is compared, where one component is to blame; and how often they',
    'accuse somebody where nothing is wrong (a score above 3).',
    '',
    ...conditions.flatMap(baselineLines),
    '## What was said instead',
    '',
    ...conditions.flatMap((condition) => [
      condition.missing === 0 ? 'With all the evidence:' : 'With a third missing:',
      '',
      ...wrongLines(condition.scored),
      '',
    ]),
    '## What a confidence is worth',
    '',
    ...conditions.flatMap((condition) => [
      condition.missing === 0 ? 'With all the evidence:' : 'With a third missing:',
      '',
      '| confidence | verdicts | mean confidence | right |',
      '| --- | ---: | ---: | ---: |',
      ...calibrationOf(condition.scored).map(
        (bin) =>
          `| ${bin.from.toFixed(1)} … ${bin.to.toFixed(1)} | ${bin.cases} | ${bin.confidence.toFixed(2)} | ${bin.right.toFixed(2)} |`,
      ),
      '',
    ]),
  ].join('\n');
}

const labHeading = '## Incidents on real processes';

/** The part of a page that `--world lab` wrote; empty where there is none. It stands last. */
export function labPartOf(page: string): string {
  const from = page.indexOf(labHeading);
  return from < 0 ? '' : page.slice(from);
}

export function labPart(conditions: readonly Condition[], seed: number): string {
  const [full, less] = conditions;
  const lines = (full?.scored ?? []).map(({ id, said, right }, index) => {
    const other = less?.scored[index];
    const cells = [`\`${id}\``, told(said, right), other === undefined ? '–' : told(other.said, other.right)];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    labHeading,
    '',
    `Written by \`npm run bench:incidents -- --world lab\`, seed ${seed}: four replicas (two where a quota is the point) behind the real HAProxy,`,
    'nginx or our gateway, real requests for about a dozen seconds, a fault that signals, kills, burns or slows real processes. The files',
    'are what the programs leave: the log, the configuration, the statistics, two scrapes of every replica, `cpu.stat`, the registry’s list; with the',
    'same red herrings beside them, and without a third of them.',
    '',
    '| | all the evidence | a third of it missing |',
    '| --- | ---: | ---: |',
    ...rows(conditions),
    '',
    '| incident | all the evidence | a third of it missing |',
    '| --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}

const told = (said: Scored['said'], right: boolean): string =>
  right ? 'right' : `**${[said.pattern, said.culprit ?? ''].join(' ').trim()}**`;

function rows(conditions: readonly Condition[]): readonly string[] {
  const scores = conditions.map(({ scored }) => scoreOf(scored));
  const row = (name: string, tell: (score: ReturnType<typeof scoreOf>) => string): string =>
    `| ${name} | ${scores.map(tell).join(' | ')} |`;
  return [
    row('incidents', ({ cases }) => String(cases)),
    row('right', ({ right, cases }) => share(right, cases)),
    row('of those in which something was wrong, right', ({ faultsRight, cases, healthy }) =>
      share(faultsRight, cases - healthy),
    ),
    row('undecided', ({ undecided, cases }) => share(undecided, cases)),
    row('another verdict, and so wrong', ({ wrong, cases }) => share(wrong, cases)),
    row('nothing was wrong', ({ healthy }) => String(healthy)),
    row('of those, somebody accused', ({ accused, healthy }) => share(accused, healthy)),
    row('so with 95 % certainty accused at most', ({ accused, healthy }) => bound(accused, healthy)),
    row('of those, undecided', ({ calmUndecided, healthy }) => share(calmUndecided, healthy)),
    row('Brier score', ({ brier }) => brier.toFixed(3)),
  ];
}

const bound = (count: number, of: number): string => `${(100 * binomialUpperBound(count, of)).toFixed(2)} %`;

const share = (count: number, of: number): string => `${count} (${of === 0 ? '–' : ((100 * count) / of).toFixed(1)} %)`;

function baselineLines({ missing, baselines, named, own, calm }: Condition): readonly string[] {
  return [
    missing === 0 ? 'With all the evidence:' : 'With a third missing:',
    '',
    `| method | component right, of ${named} | accused, of ${calm} healthy |`,
    '| --- | ---: | ---: |',
    `| largest z-score | ${share(baselines.z.hits, named)} | ${share(baselines.z.accused, calm)} |`,
    `| robust score after a change point | ${share(baselines.robust.hits, named)} | ${share(baselines.robust.accused, calm)} |`,
    `| theories (mechanism and component) | ${share(own, named)} | see above |`,
    '',
  ];
}

function wrongLines(scored: readonly Scored[]): readonly string[] {
  const lines = [...confusionOf(scored)].flatMap(([pattern, row]) => {
    const others = [...row].filter(
      ([said]) => said !== pattern && !(isCalm(said) && said !== 'undecided' && isCalm(pattern)),
    );
    if (others.length === 0) return [];
    const all = [...row.values()].reduce((sum, count) => sum + count, 0);
    return [
      `| \`${pattern}\` | ${row.get(pattern) ?? 0} of ${all} | ${others.map(([said, count]) => `${said} ${count}`).join(', ')} |`,
    ];
  });
  return lines.length === 0
    ? ['Nothing: all were right.']
    : ['| it was | right | else |', '| --- | ---: | --- |', ...lines];
}
