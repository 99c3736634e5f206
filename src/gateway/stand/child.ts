// The gateway as a process of its own, as an operator starts it: with a file, and with everything it says noted down.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const code = `
  import { runGatewayProcess } from ${JSON.stringify(new URL('../process.ts', import.meta.url).href)};
  process.exitCode = await runGatewayProcess(process.argv[1]);
`;
const readyShape = z.object({ ready: z.literal(true), port: z.number(), admin_port: z.number(), pid: z.number() });

export type Ready = z.infer<typeof readyShape>;

export interface GatewayChild {
  readonly process: ChildProcess;
  /** Puts another configuration into its file; it does not look by itself. */
  configure(config: unknown): Promise<void>;
  /** The next ready line: of itself, or of a process that took over from it. */
  ready(): Promise<Ready>;
  /** Resolves when it has said something like this on standard error. */
  says(pattern: RegExp): Promise<string>;
  /** Its exit code; undefined when a signal ended it. */
  exit(): Promise<number | undefined>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `held`: by its standard input, whose end ends it. */
export async function gatewayChild(config: unknown, held = false): Promise<GatewayChild> {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-gateway-'));
  const file = join(folder, 'gateway.json');
  const configure = async (next: unknown): Promise<void> => {
    await writeFile(`${file}.new`, typeof next === 'string' ? next : JSON.stringify(next));
    await rename(`${file}.new`, file);
  };
  await configure(config);
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code, file];
  const child = spawn(process.execPath, args, { stdio: [held ? 'pipe' : 'ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let said = '';
  let changed = (): void => {};
  const { stdout, stderr } = child;
  assert.ok(stdout !== null && stderr !== null);
  createInterface(stdout).on('line', (line) => {
    lines.push(line);
    changed();
  });
  stderr.on('data', (piece: Buffer) => {
    said += piece.toString();
    changed();
  });
  const ended = once(child, 'close');
  let over = false;
  void ended.then(() => {
    over = true;
    changed();
    return undefined;
  });
  const until = async <Found>(look: () => Found | undefined): Promise<Found> => {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (over) throw new Error(`it ended: ${said}`);
      await new Promise<void>((resolve) => {
        changed = resolve;
      });
    }
  };
  const pids = new Set<number>();
  return {
    process: child,
    configure,
    ready: async () => {
      const place = readyShape.parse(JSON.parse(await until(() => lines.shift())));
      pids.add(place.pid);
      return place;
    },
    says: (pattern) => until(() => (pattern.test(said) ? said : undefined)),
    exit: () => exitOf(child),
    [Symbol.asyncDispose]: async () => {
      for (const pid of pids) stopProcess(pid);
      child.kill();
      // With the last of its successors, which have the same standard output.
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

async function exitOf(child: ChildProcess): Promise<number | undefined> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode ?? undefined;
}

function stopProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has ended already.
  }
}
