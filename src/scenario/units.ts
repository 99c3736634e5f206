// Numbers with a unit, as people write them in a scenario. Each reader returns undefined for anything else: a rate without
// `/s` could be a minute's, and a share of 30 could be per cent.

/** `240/s`, `90/min`, `1.5/h` in requests a second. Undefined for zero too: nothing would happen. */
export function parseRate(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\/(s|min|h)$/.exec(text.trim());
  if (match === null) return undefined;
  const perSecond = Number(match[1]) / (match[2] === 's' ? 1 : match[2] === 'min' ? 60 : 3600);
  return perSecond > 0 ? perSecond : undefined;
}

/** `30%` as 0.3. */
export function parseShare(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)%$/.exec(text.trim());
  const share = match === null ? Number.NaN : Number(match[1]) / 100;
  return share >= 0 && share <= 1 ? share : undefined;
}

const bytesPerUnit: Readonly<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6, KiB: 1024, MiB: 1024 * 1024 };

/** `600B`, `22KB` (thousands), `64KiB` (of 1024) in bytes. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(B|KB|MB|KiB|MiB)$/.exec(text.trim());
  return match === null ? undefined : Math.round(Number(match[1]) * (bytesPerUnit[match[2] ?? ''] ?? Number.NaN));
}
