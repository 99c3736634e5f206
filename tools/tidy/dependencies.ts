// A dependency is a guest: DEPENDENCIES.md says why each is here, under which licence, and where it may be used, and this
// rule holds the packages, the lockfile and the imports against that table.
//
//   | package | why | licence | used by |
//   | `yaml`  | …   | ISC     | `src/scenario/`, `src/gateway/config.ts` |
//
// "Used by" holds paths; one that ends in `/` is a folder, one that begins with `*` an ending. A row whose last cell begins
// with "not yet" is a package that nothing imports so far.

import { isBuiltin } from 'node:module';
import { z } from 'zod';
import { isForTests } from '../rooms.ts';
import type { Tree } from '../tree.ts';
import { importsOf, packageName } from './imports.ts';
import type { Problem } from './rule.ts';

const table = 'DEPENDENCIES.md';

const manifestShape = z.object({
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  allowScripts: z.record(z.string(), z.boolean()).default({}),
});
const lockShape = z.object({
  packages: z.record(
    z.string(),
    z.object({ license: z.string().optional(), hasInstallScript: z.boolean().optional() }),
  ),
});

interface Guest {
  readonly name: string;
  readonly licence: string;
  readonly usedBy: readonly string[];
  readonly notYet: boolean;
  readonly line: number;
}

export function checkDependencies(tree: Tree): readonly Problem[] {
  const { dependencies, devDependencies, allowScripts } = manifestShape.parse(JSON.parse(tree.read('package.json')));
  const versions = new Map(Object.entries({ ...dependencies, ...devDependencies }));
  const guests = readTable(tree.read(table));
  return [
    ...checkTable(tree, versions, guests),
    ...checkVersions(versions),
    ...checkScripts(tree, allowScripts),
    ...checkUse(tree, new Set(Object.keys(dependencies)), guests),
  ];
}

function readTable(text: string): Guest[] {
  return text.split('\n').flatMap((line, index) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const name = /^`([^`]+)`$/.exec(cells[1] ?? '')?.[1];
    if (name === undefined) return [];
    const use = cells[4] ?? '';
    const usedBy = Array.from(use.matchAll(/`([^`]+)`/g), (match) => match[1] ?? '');
    return [{ name, licence: cells[3] ?? '', usedBy, notYet: use.startsWith('not yet'), line: index + 1 }];
  });
}

function lockedPackages(tree: Tree): z.infer<typeof lockShape>['packages'] {
  return lockShape.parse(JSON.parse(tree.read('package-lock.json'))).packages;
}

function checkTable(tree: Tree, versions: ReadonlyMap<string, string>, guests: readonly Guest[]): Problem[] {
  const packages = lockedPackages(tree);
  const unlisted = [...versions.keys()]
    .filter((name) => !guests.some((guest) => guest.name === name))
    .map((name): Problem => ({ path: table, line: 1, message: `say why ${name} is here` }));
  const perRow = guests.flatMap((guest): Problem[] => {
    const problem = (message: string): Problem => ({ path: table, line: guest.line, message });
    if (!versions.has(guest.name)) return [problem(`${guest.name} is not in package.json`)];
    const licence = packages[`node_modules/${guest.name}`]?.license ?? 'none';
    return licence === guest.licence ? [] : [problem(`the licence of ${guest.name} is ${licence}`)];
  });
  return [...unlisted, ...perRow];
}

/** Exact versions: a range would let two machines test two programs. */
function checkVersions(versions: ReadonlyMap<string, string>): Problem[] {
  return [...versions]
    .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
    .map(([name, version]) => ({
      path: 'package.json',
      line: 1,
      message: `${name} "${version}": pin one exact version`,
    }));
}

/** A package that runs a program of its own while it is installed must have been let in by name. */
function checkScripts(tree: Tree, allowed: Readonly<Record<string, boolean>>): Problem[] {
  return Object.entries(lockedPackages(tree))
    .filter(
      ([path, { hasInstallScript }]) =>
        hasInstallScript === true && allowed[path.replace('node_modules/', '')] !== true,
    )
    .map(([path]) => ({ path: 'package-lock.json', line: 1, message: `${path} runs a script when it is installed` }));
}

/** Holds every import of a package against the table's last column, and the table against the imports. */
function checkUse(tree: Tree, shipped: ReadonlySet<string>, guests: readonly Guest[]): Problem[] {
  const imported = new Set<string>();
  const problems: Problem[] = [];
  for (const path of tree.files.filter((file) => /^(?:src|tools|bin)\/.*\.[tj]s$/.test(file))) {
    for (const { specifier, line } of importsOf(tree.read(path))) {
      if (specifier === undefined || specifier.startsWith('.') || isBuiltin(specifier)) continue;
      const name = packageName(specifier);
      imported.add(name);
      const message = useComplaint(
        path,
        name,
        shipped,
        guests.find((guest) => guest.name === name),
      );
      if (message !== undefined) problems.push({ path, line, message });
    }
  }
  for (const { name, notYet, line } of guests) {
    if (notYet && imported.has(name)) problems.push({ path: table, line, message: `${name} is used now: say where` });
  }
  return problems;
}

function useComplaint(
  path: string,
  name: string,
  shipped: ReadonlySet<string>,
  guest: Guest | undefined,
): string | undefined {
  if (guest === undefined) return `${name} is not in ${table}`;
  if (path.startsWith('src/') && !isForTests(path) && !shipped.has(name)) {
    return `${name} is a development dependency and is not there when ${path} runs`;
  }
  const allowed = guest.notYet || guest.usedBy.some((place) => covers(place, path));
  return allowed ? undefined : `${name} is used by ${guest.usedBy.join(', ')} only: say in ${table} why also here`;
}

function covers(place: string, path: string): boolean {
  if (place.startsWith('*')) return path.endsWith(place.slice(1));
  return place.endsWith('/') ? path.startsWith(place) : path === place;
}
