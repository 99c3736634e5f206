// Durations, sizes and counts as configurations write them. A dossier holds seconds, bytes and plain numbers.

const unitSeconds: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  usec: 1e-6,
  ms: 1e-3,
  msec: 1e-3,
  millis: 1e-3,
  milliseconds: 1e-3,
  s: 1,
  sec: 1,
  secs: 1,
  second: 1,
  seconds: 1,
  m: 60,
  min: 60,
  mins: 60,
  minute: 60,
  minutes: 60,
  h: 3600,
  hour: 3600,
  hours: 3600,
  d: 86_400,
  day: 86_400,
  days: 86_400,
  w: 604_800,
};

/**
 * `1h30m`, `250ms`, `0.25s`, `2 hours`, or a bare number of `unit` (seconds unless said), in seconds; undefined for anything
 * else.
 */
export function parseSeconds(value: unknown, unit: number = 1): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? rounded(value * unit) : undefined;
  if (typeof value !== 'string') return undefined;
  let rest = value.trim().toLowerCase();
  if (/^[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?$/.test(rest)) return rounded(Number(rest) * unit);
  if (rest === '') return undefined;
  let total = 0;
  while (rest !== '') {
    const found = /^(\d+(?:\.\d+)?)\s*([a-zµμ]+)\s*/.exec(rest);
    const scale = unitSeconds[found?.[2] ?? ''];
    if (found === null || scale === undefined) return undefined;
    total += Number(found[1]) * scale;
    rest = rest.slice(found[0].length);
  }
  return rounded(total);
}

/** 0.1 × 3 should read 0.3: nanoseconds are as fine as any program writes. */
function rounded(seconds: number): number {
  return Number(seconds.toPrecision(12));
}

/** Kubernetes: `200m` is 0.2 cores, `2` is two. */
export function parseCores(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const found = /^(\d+(?:\.\d+)?)([num]?)$/.exec(typeof value === 'string' ? value.trim() : '');
  if (found === null) return undefined;
  return rounded(Number(found[1]) * ({ n: 1e-9, u: 1e-6, m: 1e-3 }[found[2] ?? ''] ?? 1));
}

const unitBytes: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1e3,
  kb: 1e3,
  m: 1e6,
  mb: 1e6,
  g: 1e9,
  gb: 1e9,
  t: 1e12,
  ki: 1024,
  kib: 1024,
  mi: 1024 ** 2,
  mib: 1024 ** 2,
  gi: 1024 ** 3,
  gib: 1024 ** 3,
  ti: 1024 ** 4,
};

/** `30Mi`, `1.5GiB`, `512k`, in bytes. */
export function parseBytes(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const found = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(typeof value === 'string' ? value.trim() : '');
  const unit = unitBytes[(found?.[2] ?? '').toLowerCase()];
  return found === null || unit === undefined ? undefined : Number(found[1]) * unit;
}

/** A plain number, also when it stands in quotes. */
export function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || !/^\s*[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?\s*$/i.test(value)) return undefined;
  return Number(value);
}

/** `on`, `true`, `yes`, `enabled` and their opposites; a number is not a truth. */
export function parseTruth(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (['on', 'true', 'yes', 'enabled', 'enable'].includes(word)) return true;
  if (['off', 'false', 'no', 'disabled', 'disable'].includes(word)) return false;
  return undefined;
}

/** `25%` → 0.25; a bare number as it is. */
export function parseShare(value: unknown): number | undefined {
  const percent = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(typeof value === 'string' ? value : '');
  return percent === null ? parseNumber(value) : Number(percent[1]) / 100;
}
