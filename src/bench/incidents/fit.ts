// Isotonic regression: the rising steps that lie closest to what was seen. Neighbours that are out of order are pooled until none is
// (pool adjacent violators; Barlow and others, Statistical Inference under Order Restrictions, 1972).

import type { Scored } from './score.ts';

interface Block {
  raw: number;
  right: number;
  cases: number;
}

/** Knots for `src/diagnose/calibration.ts`. */
export function isotonicKnots(
  seen: readonly { readonly raw: number; readonly right: boolean }[],
): readonly (readonly [number, number])[] {
  const byRaw = new Map<number, Block>();
  for (const { raw, right } of seen) {
    const place = Math.round(raw * 20) / 20;
    // Two verdicts that nobody gave, one of them right: a point with few cases says little.
    const block = byRaw.get(place) ?? { raw: place, right: 1, cases: 2 };
    block.right += right ? 1 : 0;
    block.cases += 1;
    byRaw.set(place, block);
  }
  const pooled: (Block & { readonly from: number })[] = [];
  for (const block of [...byRaw.values()].toSorted((one, other) => one.raw - other.raw)) {
    let last = { ...block, from: block.raw };
    for (
      let before = pooled.at(-1);
      before !== undefined && before.right / before.cases >= last.right / last.cases;
      before = pooled.at(-1)
    ) {
      pooled.pop();
      last = { raw: last.raw, from: before.from, right: before.right + last.right, cases: before.cases + last.cases };
    }
    pooled.push(last);
  }
  const rounded = (value: number): number => Number(value.toFixed(3));
  const steps = pooled.flatMap(({ from, raw, right, cases }): (readonly [number, number])[] =>
    from === raw
      ? [[raw, rounded(right / cases)]]
      : [
          [from, rounded(right / cases)],
          [raw, rounded(right / cases)],
        ],
  );
  return [[0, 0], ...steps, ...(steps.at(-1)?.[0] === 1 ? [] : [[1, steps.at(-1)?.[1] ?? 1] as const])];
}

export function fittedKnots(scored: readonly Scored[]): string {
  const seen = scored.map(({ said, right }) => ({ raw: said.confidence, right }));
  return isotonicKnots(seen)
    .map(([raw, share]) => `  [${raw}, ${share}],`)
    .join('\n');
}
