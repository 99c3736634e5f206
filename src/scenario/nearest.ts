// The word that was probably meant: the candidate with the smallest edit distance, when it is near enough to be a slip.

/** ` Did you mean x?`, or nothing when no candidate is near `word`. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

/** The nearest candidate within a third of the word's length (at least one slip, two from four letters on). */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const allowed = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3));
  let best: string | undefined;
  let bestDistance = allowed + 1;
  for (const candidate of candidates) {
    const distance = editDistance(plain(word), plain(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `serviceTime`, `service-time` and `service_time` are one word to a person. */
const plain = (word: string): string => word.replace(/[-_ ]/g, '').toLowerCase();

/** Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours, each costs one. */
export function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
