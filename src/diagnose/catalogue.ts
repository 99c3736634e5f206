// Every theory as a page: what happens, what must be seen, what would refute or prove it, what it looks like, what to do. Without
// evidence a theory cannot compute its predictions; their wording is quoted from `claims-said.ts`, which a tool writes.

import { claimsSaid, type SaidClaim } from './claims-said.ts';
import { dossierTheories } from './dossier/theories.ts';
import type { DossierTheory } from './dossier/theory.ts';
import { theories } from './theories.ts';
import type { Theory, TheorySlug } from './theory.ts';
import { listed } from './wording.ts';

export interface TheoryPage {
  readonly slug: TheorySlug;
  readonly title: string;
  /** `record`: of a run that Plimsoll played or watched. `dossier`: of whatever an incident left behind. */
  readonly of: 'record' | 'dossier';
  readonly mechanism: string;
  readonly claims: readonly SaidClaim[];
  readonly refutedBy: string;
  readonly provedBy: string;
  /** Slugs, or words for what is no theory here. */
  readonly lookAlikes: readonly string[];
  readonly fix: string;
  /** The measurement or the experiments that decide when it is left open; empty where nothing would. */
  readonly decidedBy: string;
}

/** All of them, those over a run's record first. */
export function catalogue(): readonly TheoryPage[] {
  return [...theories.map(pageOfRecord), ...dossierTheories.map(pageOfDossier)];
}

/** The pages of one slug: some patterns have a theory of either kind. Empty for a slug that is no theory's. */
export function pagesOf(slug: string): readonly TheoryPage[] {
  return catalogue().filter((page) => page.slug === slug);
}

function pageOfRecord(theory: Theory): TheoryPage {
  const { slug, title, mechanism, refutedBy, provedBy, lookAlikes, fix, experiments } = theory;
  return {
    slug,
    title,
    of: 'record',
    mechanism,
    claims: claimsSaid.record[slug] ?? [],
    refutedBy,
    provedBy,
    lookAlikes,
    fix,
    decidedBy: experiments.length === 0 ? '' : `experiments, the best first: ${listed(experiments)}`,
  };
}

function pageOfDossier(theory: DossierTheory): TheoryPage {
  const { slug, title, mechanism, refutedBy, provedBy, lookAlikes, fix, decidedBy } = theory;
  const claims = claimsSaid.dossier[slug] ?? [];
  return { slug, title, of: 'dossier', mechanism, claims, refutedBy, provedBy, lookAlikes, fix, decidedBy };
}

/** The pages of a theory in Markdown; undefined for a slug that is no theory's. */
export function explainTheory(slug: string): string | undefined {
  const pages = pagesOf(slug);
  return pages.length === 0 ? undefined : pages.map((page) => pageMarkdown(page, 1)).join('\n\n');
}

const weights = { necessary: 'must hold', sufficient: 'would prove it', supporting: 'speaks for it' } as const;

/** One page in Markdown. `level`: of its heading. */
export function pageMarkdown(page: TheoryPage, level: number): string {
  const rows = page.claims.map(
    ({ says, bearing, predicted, refutes }) =>
      `| ${[says, predicted ?? 'computed from the evidence', weights[bearing], refutes].map(cellOf).join(' | ')} |`,
  );
  return [
    `${'#'.repeat(level)} ${page.title}`,
    page.mechanism,
    ...(rows.length === 0
      ? []
      : [
          [
            '| what is claimed | predicted | bearing | what speaks against it |',
            '| --- | --- | --- | --- |',
            ...rows,
          ].join('\n'),
        ]),
    `**Refuted by:** ${page.refutedBy}`,
    `**Proved by:** ${page.provedBy}`,
    ...(page.lookAlikes.length === 0 ? [] : [`**Looks like:** ${listed(page.lookAlikes.map(titleOf))}.`]),
    `**Fix:** ${page.fix}`,
    ...(page.decidedBy === '' ? [] : [`**Decided by:** ${page.decidedBy}`]),
  ].join('\n\n');
}

/** The slug of a theory with its title; other words as they are. */
export function titleOf(lookAlike: string): string {
  return catalogue().some(({ slug }) => slug === lookAlike) ? `\`${lookAlike}\`` : lookAlike;
}

function cellOf(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}

/** The whole catalogue in Markdown: docs/reference/theories.md. */
export function catalogueMarkdown(): string {
  const pages = catalogue();
  const kinds = [
    [
      'record',
      'Theories of a run',
      'Over the record of a run that Plimsoll played or watched: requests, replicas and workers by the second, and experiments.',
    ],
    [
      'dossier',
      'Theories of an incident',
      'Over whatever an incident left behind: logs, metrics, configurations, results of load tests, what somebody remembers.',
    ],
  ] as const;
  return [
    '# Theories',
    'Every theory states its predictions before it looks; a claim that must hold and does not refutes it, however well the rest fits, ' +
      'and one that would prove it and holds establishes it. `plimsoll theories` lists them, `plimsoll explain SLUG` is a page of this ' +
      'catalogue. ‹Words› in a prediction stand for numbers that the evidence gives. This file is written by `node tools/write-theories.ts`.',
    ...kinds.flatMap(([kind, title, about]) => {
      const own = pages.filter((page) => page.of === kind);
      return [
        `## ${title}`,
        about,
        [
          '| slug | theory |',
          '| --- | --- |',
          ...own.map((page) => `| \`${page.slug}\` | ${cellOf(page.title)} |`),
        ].join('\n'),
        ...own.map((page) => pageMarkdown(page, 3)),
      ];
    }),
    '',
  ].join('\n\n');
}
