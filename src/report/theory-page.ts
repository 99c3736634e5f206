// Theories for a terminal: the list, and the page of one.

import type { TheoryPage } from '../diagnose.ts';
import type { Paint } from './paint.ts';
import { type Cell, table, wrap } from './table.ts';

const kinds = [
  ['record', 'of a run that Plimsoll played or watched'],
  ['dossier', 'of whatever an incident left behind'],
] as const;

/** All theories, those of either kind under their heading. */
export function theoryList(pages: readonly TheoryPage[], columns: number, paint: Paint): string[] {
  return kinds.flatMap(([kind, about], index) => {
    const own = pages.filter((page) => page.of === kind);
    const slug = Math.max(0, ...own.map((page) => page.slug.length));
    const rows = own.map((page): Cell[] => [page.slug, page.title]);
    return [
      ...(index === 0 ? [] : ['']),
      ...table([{ title: 'theory' }, { title: about, width: Math.max(30, columns - slug - 2) }], rows, paint.strong),
    ];
  });
}

const bearings = { necessary: 'must hold', sufficient: 'would prove it', supporting: 'speaks for it' } as const;

/** One page: what happens, what it claims, what speaks against it, what to do. */
export function theoryPage(page: TheoryPage, columns: number, paint: Paint): string[] {
  const width = Math.min(columns, 140);
  const kind = kinds.find(([one]) => one === page.of)?.[1] ?? '';
  const part = Math.floor((width - 6 - 14) / 3);
  const rows = page.claims.map(({ says, bearing, predicted, refutes }): Cell[] => [
    says,
    predicted ?? 'computed from the evidence',
    bearings[bearing],
    refutes,
  ]);
  return [
    `${paint.strong(page.slug)}  ${page.title}`,
    paint.faint(`a theory ${kind}`),
    '',
    ...wrap(page.mechanism, width),
    '',
    ...table(
      [
        { title: 'claims', width: part },
        { title: 'predicts', width: part },
        { title: 'bearing', width: 14 },
        { title: 'against it', width: part },
      ],
      rows,
      paint.strong,
    ),
    '',
    ...labelled('refuted by', page.refutedBy, width, paint),
    ...labelled('proved by', page.provedBy, width, paint),
    ...(page.lookAlikes.length === 0 ? [] : labelled('looks like', page.lookAlikes.join(', '), width, paint)),
    ...labelled('fix', page.fix, width, paint),
    ...(page.decidedBy === '' ? [] : labelled('decided by', page.decidedBy, width, paint)),
  ];
}

function labelled(label: string, text: string, width: number, paint: Paint): string[] {
  const [first = '', ...rest] = wrap(text, width - label.length - 2);
  return [`${paint.strong(`${label}:`)} ${first}`, ...rest.map((line) => ' '.repeat(label.length + 2) + line)];
}
