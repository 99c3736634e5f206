#!/usr/bin/env node
// Plimsoll's sources are TypeScript that Node 26 runs by stripping the types. The Node that npm was started with may be
// older, so this launcher (plain JavaScript that any Node from 20 understands) hands over to a Node that can: its own if it
// is new enough, otherwise the one that the development dependency `node` installed beside it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const main = join(root, 'src', 'cli', 'main.ts');
const flags = ['--disable-warning=ExperimentalWarning'];
const bundled = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const major = Number(process.versions.node.split('.')[0]);

const node = major >= 26 ? process.execPath : bundled;
if (node === bundled && !existsSync(bundled)) {
  console.error(
    `plimsoll: needs Node 26, found ${process.version} and no ${bundled}.\n` +
      'Run `npm ci` in the repository: it installs Node 26 as a development dependency.',
  );
  process.exit(1);
}

// The child shares our terminal. A Ctrl-C reaches both; only the child decides what it means, so that a run can end with
// everything recorded. A signal sent to us alone is passed on.
const child = spawn(node, [...flags, main, ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) process.on(signal, () => child.kill(signal));
process.on('SIGINT', () => {
  if (!process.stdin.isTTY) child.kill('SIGINT');
});
child.on('exit', (code, signal) => {
  if (signal !== null) process.kill(process.pid, signal);
  else process.exit(code ?? 1);
});
