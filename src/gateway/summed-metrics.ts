// The pages of several workers as one page: what is counted is added up, sample by sample. Gauges are added up too (requests inside,
// connections), but for those that say yes or no: healthy is what every worker finds healthy, ejected what one of them has ejected.

/** Samples whose name ends so are combined otherwise than by adding. */
const combined: readonly { readonly ends: RegExp; readonly by: (one: number, other: number) => number }[] = [
  { ends: /_healthy$/, by: Math.min },
  { ends: /_(ejected|info|breaker_open|excluded)$/, by: Math.max },
];

export function summedMetrics(pages: readonly string[]): string {
  // In the order in which names are met first; comments belong to the name behind them.
  const families = new Map<string, { readonly comments: string[]; readonly samples: Map<string, number> }>();
  for (const page of pages) {
    let family = familyOf(families, '');
    for (const line of page.split('\n')) {
      const comment = /^# (?:HELP|TYPE) (\S+)/.exec(line);
      if (comment !== null) {
        family = familyOf(families, comment[1] ?? '');
        if (!family.comments.includes(line)) family.comments.push(line);
        continue;
      }
      const sample = /^([^\s{]+)(\{.*\})? (\S+)$/.exec(line);
      if (sample === null) continue;
      const [, name = '', labels = '', value] = sample;
      const key = `${name}${labels}`;
      const before = family.samples.get(key);
      const by = combined.find(({ ends }) => ends.test(name))?.by ?? add;
      family.samples.set(key, before === undefined ? Number(value) : by(before, Number(value)));
    }
  }
  return [...families.values()]
    .flatMap(({ comments, samples }) => [...comments, ...[...samples].map(([key, value]) => `${key} ${value}`)])
    .map((line) => `${line}\n`)
    .join('');
}

function familyOf<Family>(families: Map<string, Family | ReturnType<typeof emptyFamily>>, name: string) {
  const found = families.get(name) ?? emptyFamily();
  families.set(name, found);
  return found;
}

function emptyFamily() {
  return { comments: new Array<string>(), samples: new Map<string, number>() };
}

function add(one: number, other: number): number {
  return one + other;
}
