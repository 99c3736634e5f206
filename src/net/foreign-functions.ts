// `node:ffi`, which is experimental and may be missing, switched off, or different one day.

import type * as Ffi from 'node:ffi';

export function foreignFunctions(): typeof Ffi | undefined {
  try {
    return process.getBuiltinModule('node:ffi');
  } catch {
    return undefined;
  }
}
