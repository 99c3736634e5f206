// Points in time as programs write them, as epoch milliseconds.
//
//   2026-03-04T14:00:15.000Z      most things              2026-03-04 14:00:15,250   Java
//   04/Mar/2026:14:00:15.250      HAProxy                  04/Mar/2026:14:00:15 +0000   nginx, Apache
//   2026/03/04 14:00:15           nginx's error log, Go    Mar  4 14:00:15           syslog, which knows no year
//   1772632815.250                epoch: seconds, or milli-, micro- or nanoseconds by size
//
// What does not name its zone is taken for UTC: the reader of a log cannot know better, and within one file it cancels out.

/** An instant and how precisely it was written. */
export interface WrittenInstant {
  readonly ms: number;
  readonly stepMs: number;
}

/** An instant at the beginning of a text, and where it ends. */
export interface LeadingInstant extends WrittenInstant {
  readonly end: number;
}

const months: ReadonlyMap<string, number> = new Map(
  ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'].map((name, index) => [
    name,
    index,
  ]),
);

const iso =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ]| {2})(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)(?![\w:]))?/;
const slashed = /^(\d{4})\/(\d\d)\/(\d\d)[ T:](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?/;
const common = /^(\d{1,2})\/([A-Za-z]{3})\/(\d{4}):(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ([+-]\d\d:?\d\d))?/;
const syslog = /^([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?/;
const epoch = /^(\d{10}|\d{13}|\d{16}|\d{19})(?:\.(\d{1,9}))?(?![\d.:\w])/;

/** The instant at the beginning of `text` (from `at`); undefined when there is none. `nearMs` gives syslog its year. */
export function leadingInstant(text: string, at = 0, nearMs?: number): LeadingInstant | undefined {
  const words = at === 0 ? text : text.slice(at, at + 48);
  const first = words.charCodeAt(0);
  if (first >= 48 && first <= 57) {
    return fromIso(words, at) ?? fromSlashed(words, at) ?? fromCommon(words, at) ?? fromEpoch(words, at);
  }
  return nearMs === undefined ? undefined : fromSyslog(words, at, nearMs);
}

/** The instant that the whole text is; a number is an epoch by its size. */
export function parseInstant(value: unknown): WrittenInstant | undefined {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  const found = leadingInstant(text);
  return found !== undefined && found.end === text.length ? found : undefined;
}

function fromIso(text: string, at: number): LeadingInstant | undefined {
  const found = iso.exec(text);
  if (found === null) return undefined;
  const day = Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3]));
  return instant(day, found[4], found[5], found[6] ?? '0', found[7], found[8], at + found[0].length);
}

function fromSlashed(text: string, at: number): LeadingInstant | undefined {
  const found = slashed.exec(text);
  if (found === null) return undefined;
  const day = Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3]));
  return instant(day, found[4], found[5], found[6], found[7], undefined, at + found[0].length);
}

function fromCommon(text: string, at: number): LeadingInstant | undefined {
  const found = common.exec(text);
  const month = months.get((found?.[2] ?? '').toLowerCase());
  if (found === null || month === undefined) return undefined;
  const day = Date.UTC(Number(found[3]), month, Number(found[1]));
  return instant(day, found[4], found[5], found[6], found[7], found[8], at + found[0].length);
}

function fromEpoch(text: string, at: number): LeadingInstant | undefined {
  const found = epoch.exec(text);
  if (found === null) return undefined;
  const whole = found[1] ?? '';
  // 2001 to 2286 in seconds are ten digits; each unit finer has three more.
  const scale = [1000, 1, 0.001, 0.000001][(whole.length - 10) / 3] ?? 1000;
  const fraction = found[2] ?? '';
  const ms = Number(whole) * scale + (Number(fraction) * scale) / 10 ** fraction.length;
  return { ms, stepMs: Math.max(0.001, scale * 10 ** -fraction.length), end: at + found[0].length };
}

function fromSyslog(text: string, at: number, nearMs: number): LeadingInstant | undefined {
  const found = syslog.exec(text);
  const month = months.get((found?.[1] ?? '').toLowerCase());
  if (found === null || month === undefined) return undefined;
  const year = new Date(nearMs).getUTCFullYear();
  let best: LeadingInstant | undefined;
  for (const candidate of [year - 1, year, year + 1]) {
    const day = Date.UTC(candidate, month, Number(found[2]));
    const here = instant(day, found[3], found[4], found[5], found[6], undefined, at + found[0].length);
    if (here === undefined) continue;
    if (best === undefined || Math.abs(here.ms - nearMs) < Math.abs(best.ms - nearMs)) best = here;
  }
  return best;
}

function instant(
  dayMs: number,
  hour: string | undefined,
  minute: string | undefined,
  second: string | undefined,
  fraction: string | undefined,
  zone: string | undefined,
  end: number,
): LeadingInstant | undefined {
  const h = Number(hour);
  const m = Number(minute);
  const s = Number(second);
  if (Number.isNaN(dayMs) || h > 24 || m > 59 || s > 60) return undefined;
  const digits = fraction ?? '';
  const ms = dayMs + ((h * 60 + m) * 60 + s) * 1000 + (Number(digits) * 1000) / 10 ** digits.length;
  return { ms: ms - offsetMs(zone), stepMs: Math.max(0.001, 1000 * 10 ** -digits.length), end };
}

function offsetMs(zone: string | undefined): number {
  const found = /^([+-])(\d\d):?(\d\d)?$/.exec(zone ?? '');
  if (found === null) return 0;
  const minutes = Number(found[2]) * 60 + Number(found[3] ?? 0);
  return (found[1] === '-' ? -minutes : minutes) * 60_000;
}

/** The first instant with a year anywhere in a text: what gives syslog lines their year. */
export function someInstant(text: string): number | undefined {
  const found =
    /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d|\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d/.exec(
      text,
    );
  return found === null ? undefined : leadingInstant(found[0])?.ms;
}
