// The rooms of src/, in one table: where each stands, whether it is pure, and what must never meet. The import checker, the
// second type check and the guard of the pure tests all read it here; the picture of it is in ARCHITECTURE.md.
//
//   row        pure                          acts
//   show                                     cli  web
//   judge                                    bench
//   explain    diagnose  report
//   produce    sim                           gateway  discover  xds  load  lab  observe
//   waist      record
//   decide     policy  route  scenario
//   ground     base  stats  wire             host  net
//
// A room knows rooms in lower rows only. Two exceptions within a row: in the ground row the others may know `base`, and `report`
// may know `diagnose`, whose findings it prints.

export interface Room {
  readonly name: string;
  readonly row: Row;
  /** Pure: no clock, timer, chance, network, process or file of its own. Runs in Node, in a browser tab and in the simulator. */
  readonly kind: 'pure' | 'acts';
}

/** From the ground up. */
export const rows = ['ground', 'decide', 'waist', 'produce', 'explain', 'judge', 'show'] as const;
export type Row = (typeof rows)[number];

export const rooms: readonly Room[] = [
  { name: 'base', row: 'ground', kind: 'pure' },
  { name: 'stats', row: 'ground', kind: 'pure' },
  { name: 'wire', row: 'ground', kind: 'pure' },
  { name: 'host', row: 'ground', kind: 'acts' },
  { name: 'net', row: 'ground', kind: 'acts' },
  { name: 'policy', row: 'decide', kind: 'pure' },
  { name: 'route', row: 'decide', kind: 'pure' },
  { name: 'scenario', row: 'decide', kind: 'pure' },
  { name: 'record', row: 'waist', kind: 'pure' },
  { name: 'sim', row: 'produce', kind: 'pure' },
  { name: 'gateway', row: 'produce', kind: 'acts' },
  { name: 'discover', row: 'produce', kind: 'acts' },
  { name: 'xds', row: 'produce', kind: 'acts' },
  { name: 'load', row: 'produce', kind: 'acts' },
  { name: 'lab', row: 'produce', kind: 'acts' },
  { name: 'observe', row: 'produce', kind: 'acts' },
  { name: 'diagnose', row: 'explain', kind: 'pure' },
  { name: 'report', row: 'explain', kind: 'pure' },
  { name: 'bench', row: 'judge', kind: 'acts' },
  { name: 'cli', row: 'show', kind: 'acts' },
  { name: 'web', row: 'show', kind: 'acts' },
];

/** Folders and files that are pure although the room around them acts. */
export const pureParts: readonly string[] = ['src/observe/parse/', 'src/observe/seen.ts'];

/** Libraries that a pure room may use: they compute, and ask nobody for the time. */
export const pureLibraries: readonly string[] = ['hdr-histogram-js', 'ml-levenberg-marquardt', 'yaml', 'zod'];

/** Who may know whom within one row. */
export const neighbours: readonly { readonly room: string; readonly mayKnow: string }[] = [
  ...['stats', 'wire', 'host', 'net'].map((room) => ({ room, mayKnow: 'base' })),
  { room: 'report', mayKnow: 'diagnose' },
];

export interface Ban {
  readonly room: string;
  readonly mustNotImport: readonly string[];
  readonly because: string;
}

/** What must never meet, whatever the rows would allow, and why. */
export const bans: readonly Ban[] = [
  {
    room: 'policy',
    mustNotImport: ['sim', 'gateway', 'record'],
    because: 'a policy does not know whether it is real',
  },
  {
    room: 'gateway',
    mustNotImport: ['sim', 'load', 'lab'],
    because: 'the ruler and the thing measured share only ground',
  },
  {
    room: 'sim',
    mustNotImport: ['gateway', 'load', 'lab'],
    because: 'the ruler and the thing measured share only ground',
  },
  {
    room: 'load',
    mustNotImport: ['gateway', 'sim', 'lab'],
    because: 'the ruler and the thing measured share only ground',
  },
  {
    room: 'lab',
    mustNotImport: ['gateway', 'sim', 'load', 'discover', 'xds', 'observe'],
    because: 'the lab starts programs as an operator would, by command line, so that any program can stand in',
  },
  ...['report', 'web', 'cli'].map((room) => ({
    room,
    mustNotImport: ['stats'],
    because: 'what shows a number never computes one, so the terminal, the page and the JSON cannot disagree',
  })),
  ...rooms.map((room) => ({
    room: room.name,
    mustNotImport: ['cli'],
    because: 'nobody imports cli: wiring is a table there, not a side effect of an import',
  })),
];

/** The file whose exports only these rooms may name: what was really injected. Diagnosis is blind to it. */
export const truth = { file: 'src/record/truth.ts', room: 'record', openedBy: ['bench'] } as const;

const byName: ReadonlyMap<string, Room> = new Map(rooms.map((room) => [room.name, room]));

/** The room that a path of the tree belongs to: `src/policy.ts` and all under `src/policy/`. */
export function roomOf(path: string): Room | undefined {
  const name = /^src\/([^/]+?)(?:\.ts$|\/)/.exec(path)?.[1];
  return name === undefined ? undefined : byName.get(name);
}

/** Product code that must be pure. What only tests use may act, in a pure room too. */
export function isPure(path: string): boolean {
  return !isForTests(path) && isPurePlace(path);
}

/** A test that runs without clock, timers and chance: one that stands in a pure room or beside a pure file. */
export function testsPure(path: string): boolean {
  return testEnding.test(path) && isPurePlace(path.replace(testEnding, '.ts'));
}

/** Tests, benchmarks, fuzzers, and what stands in a folder `testing/` to be used by them. The product imports none of it. */
export function isForTests(path: string): boolean {
  return testEnding.test(path) || path.includes('/testing/');
}

const testEnding = /(?:\.(?:test|bench|fuzz))+\.ts$/;

function isPurePlace(path: string): boolean {
  return roomOf(path)?.kind === 'pure' || pureParts.some((part) => path.startsWith(part));
}
