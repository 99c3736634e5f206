// The first net under the pure rooms: a second type check that knows no ambient types, so that `process`, `setTimeout` or
// `node:fs` simply do not exist there. This rule keeps tsconfig.pure.json and the table of rooms in step; that the net
// holds is shown by the test beside it, with the compiler itself.

import { z } from 'zod';
import { pureParts, rooms } from '../rooms.ts';
import type { Tree } from '../tree.ts';
import type { Problem } from './rule.ts';

const config = 'tsconfig.pure.json';
const shape = z.object({
  compilerOptions: z.object({ types: z.array(z.string()) }),
  include: z.array(z.string()),
  exclude: z.array(z.string()),
});

export function checkPureTypes(tree: Tree): readonly Problem[] {
  const { compilerOptions, include, exclude } = shape.parse(JSON.parse(tree.read(config)));
  const pureRooms = rooms.filter((room) => room.kind === 'pure').map((room) => room.name);
  const due = [
    ...pureRooms.flatMap((name) => [`src/${name}`, `src/${name}.ts`]),
    ...pureParts.map((part) => part.replace(/\/$/, '')),
  ];
  const problem = (message: string): Problem => ({ path: config, line: 1, message });
  return [
    ...due.filter((path) => !include.includes(path)).map((path) => problem(`include "${path}": it is pure`)),
    ...include
      .filter((path) => !due.includes(path))
      .map((path) => problem(`"${path}" is no pure room of tools/rooms.ts`)),
    ...exclude
      .filter((pattern) => !/^\*\*\/(?:\*\.(?:test|bench|fuzz)\.ts|testing)$/.test(pattern))
      .map((pattern) => problem(`"${pattern}" hides product code from the check`)),
    ...(compilerOptions.types.length > 0
      ? [problem('"types" must be empty: ambient types are what this keeps out')]
      : []),
  ];
}
