// Which files are readings of the same thing, and in which order they were taken.
//
// A counter says nothing; the difference of two readings does. People keep them as files of one family:
//
//   scrape-t0.prom scrape-t300.prom     stats-before.txt stats-after.txt     top-1.txt top-2.txt top-10.txt
//
// Names of one family are the same once numbers and words of order are taken out. Within a family the order is that of the
// instants in the content where every file has them; else before < during < after, then the numbers in the names. Words that
// order nothing (`down`, `up`) leave it to the counters, which only rise; and where those are silent, to the alphabet.

/** Words of order with their places; what is not here stands between `during` and `after`. */
const places: Readonly<Record<string, number>> = {
  before: 0,
  pre: 0,
  old: 0,
  start: 0,
  first: 0,
  begin: 0,
  baseline: 0,
  base: 0,
  during: 1,
  mid: 1,
  peak: 1,
  down: 2,
  up: 2,
  after: 3,
  post: 3,
  new: 3,
  end: 3,
  last: 3,
  recovered: 3,
};

/** Where this word stands in the order of readings; undefined when it says nothing of it. */
export function placeOf(word: string): number | undefined {
  return places[word];
}

interface Words {
  /** What is the same in all names of the family. */
  readonly family: string;
  readonly place: number;
}

/** The family of a file name (without folders), and where a word of order puts it. */
export function familyOf(name: string): Words {
  const base = name.replace(/^.*[/\\]/, '');
  const dot = base.lastIndexOf('.');
  const stem = dot <= 0 ? base : base.slice(0, dot);
  const ending = dot <= 0 ? '' : base.slice(dot);
  const words = stem.toLowerCase().split(/[-_.\s]+/);
  const at = words.findIndex((word) => places[word] !== undefined);
  if (at !== -1) {
    // What follows a word of order says what lay between: `top-after-client-rollout` beside `top-before`.
    const kept = at === 0 ? words.slice(1) : words.slice(0, at);
    return { family: `${kept.map(withoutNumbers).join('-')}${ending}`, place: places[words[at] ?? ''] ?? 2 };
  }
  return { family: `${words.map(withoutNumbers).join('-')}${ending}`, place: 2 };
}

export interface ReadingFile {
  readonly name: string;
  readonly format: string;
  /** How many readings are in it. */
  readonly readings: number;
  /** The earliest instant in it, where it has any. */
  readonly firstMs: number | undefined;
  /** What it has counted, by any name that is the same in the others. */
  readonly counters: ReadonlyMap<string, number>;
}

/** For each file, the number of its first reading within its family: 0, and on by what the files before it hold. */
export function firstReadings(files: readonly ReadingFile[]): number[] {
  const families = new Map<string, number[]>();
  const words = files.map((file) => familyOf(file.name));
  for (const [index, file] of files.entries()) {
    const folder = file.name.replace(/[^/\\]*$/, '');
    const family = `${folder} ${file.format} ${words[index]?.family ?? ''}`;
    families.set(family, [...(families.get(family) ?? []), index]);
  }
  const first = files.map(() => 0);
  for (const members of families.values()) {
    const timed = members.every((index) => files[index]?.firstMs !== undefined);
    const ordered = members.toSorted((one, other) => {
      const byTime = timed ? (files[one]?.firstMs ?? 0) - (files[other]?.firstMs ?? 0) : 0;
      const byPlace = (words[one]?.place ?? 2) - (words[other]?.place ?? 2);
      return byTime || byPlace || byName(files[one], files[other]);
    });
    let next = 0;
    for (const index of ordered) {
      first[index] = next;
      next += files[index]?.readings ?? 1;
    }
  }
  return first;
}

function byName(one: ReadingFile | undefined, other: ReadingFile | undefined): number {
  if (one === undefined || other === undefined) return 0;
  const natural = naturally(one.name, other.name);
  if (withoutNumbers(one.name) === withoutNumbers(other.name)) return natural;
  return byCounters(one.counters, other.counters) || natural;
}

/** Negative when every counter that changed has risen from `one` to `other`; 0 when they do not agree. */
function byCounters(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let risen = 0;
  let fallen = 0;
  for (const [name, value] of one) {
    const then = other.get(name) ?? value;
    if (then > value) risen += 1;
    else if (then < value) fallen += 1;
  }
  if (risen > 0 && fallen === 0) return -1;
  return fallen > 0 && risen === 0 ? 1 : 0;
}

/** `t60` before `t300`. */
export function naturally(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

function withoutNumbers(word: string): string {
  return word.replaceAll(/\d+/g, '#');
}
