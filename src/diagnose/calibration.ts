// What a raw confidence has been worth: of all verdicts with about this number, how many were right. Fitted by isotonic regression
// (pool adjacent violators) on the development seeds of the generated incidents, with two verdicts added to every point of which one
// was right, so that few cases claim little. Generated incidents are purer than real ones, so nothing is raised above the cap.
//
//   npm run bench:incidents -- --fit        prints the knots

/** Raw confidence and what it came to; rising in both. */
export const knots: readonly (readonly [raw: number, share: number])[] = [
  [0, 0],
  [0.6, 0.167],
  [0.75, 0.933],
  [0.8, 0.933],
  [0.85, 0.994],
  [0.9, 0.995],
  [0.95, 0.995],
  [1, 0.995],
];

const cap = 0.97;

/** The calibrated confidence: straight lines between the knots. */
export function calibrated(confidence: number): number {
  const raw = Math.min(1, Math.max(0, confidence));
  const next = knots.findIndex(([at]) => at >= raw);
  const [upper, share] = knots[Math.max(0, next)] ?? [1, 1];
  const [lower, before] = knots[Math.max(0, next - 1)] ?? [0, 0];
  const part = upper === lower ? 1 : (raw - lower) / (upper - lower);
  return Math.min(cap, before + part * (share - before));
}
