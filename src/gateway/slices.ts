// Long work in slices, so that nobody waits for more than one of them: a generator does a little between two `yield`s, and every
// millisecond the loop gets its turn.

const sliceMs = 1;

export async function inSlices(work: Iterator<void, void>): Promise<void> {
  let end = performance.now() + sliceMs;
  while (work.next().done !== true) {
    if (performance.now() < end) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    end = performance.now() + sliceMs;
  }
}

/** For whoever has nobody waiting. */
export function atOnce(work: Iterator<void, void>): void {
  while (work.next().done !== true);
}
