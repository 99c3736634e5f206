// Sees to it that nothing of a lab outlives its runner: `node warden.ts TOKEN`.
//
// It is started before everything else, in a session of its own, so that neither a Ctrl-C nor the end of the terminal
// reaches it. It holds one end of a pipe from the runner and waits. When the pipe closes, the runner has gone, were it by
// SIGKILL; then the warden kills what carries the lab's token, removes the lab's cgroups, and goes too.
//
//   runner ──stdin──► warden        {"pid": 4711} {"gone": 4711} {"cgroup": "/sys/fs/cgroup/…"}
//     ✝               └─► /proc/*/environ has PLIMSOLL_LAB=TOKEN? SIGKILL
//
// It does not rely on what it was told: a runner may die between starting a process and telling of it. So it searches
// the environments of all processes, until twice in a row nothing is found, since a process that is just being started
// shows its new environment only after exec. The token is looked at in the moment of killing, so a process number that the kernel
// has given to a stranger meanwhile is safe. Where there is no /proc it kills the processes it was told of and that were not gone.

import { existsSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Between two searches. */
const pauseMs = 50;
/** After so many searches (5 s) it gives up on what cannot be killed, such as a process in an uninterruptible wait. */
const searchesMax = 100;

const token = process.argv[2] ?? '';
if (token === '') {
  console.error('usage: node warden.ts TOKEN');
  process.exit(2);
}

const told = new Set<number>();
const cgroups = new Set<string>();

for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM', 'SIGPIPE'] as const) process.on(signal, () => {});
const lines = createInterface({ input: process.stdin });
lines.on('line', hear);
lines.on('close', () => void endAll());
process.stdout.write('{"ready":true}\n');

function hear(line: string): void {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    // A runner that dies in the middle of a line leaves half of one.
    return;
  }
  if (typeof message !== 'object' || message === null) return;
  if ('pid' in message && typeof message.pid === 'number') told.add(message.pid);
  if ('gone' in message && typeof message.gone === 'number') told.delete(message.gone);
  if ('cgroup' in message && typeof message.cgroup === 'string') cgroups.add(message.cgroup);
}

async function endAll(): Promise<void> {
  let quiet = 0;
  for (let search = 0; search < searchesMax && quiet < 2; search++) {
    const found = existsSync('/proc/self/environ') ? carriers() : [...told];
    // SIGKILL ends a stopped process too.
    for (const pid of found) kill(pid);
    quiet = found.length === 0 ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  removeCgroups();
  process.exit(0);
}

/** Living processes that carry the token. A zombie has no environment any more. */
function carriers(): number[] {
  const mark = `PLIMSOLL_LAB=${token}`;
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark)) found.push(pid);
    } catch {
      // It has ended meanwhile, or it belongs to somebody else.
    }
  }
  return found;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    told.delete(pid);
  }
}

/** The deepest first: a group can go only when it is empty. */
function removeCgroups(): void {
  for (const path of [...cgroups].toSorted((one, other) => other.length - one.length)) {
    try {
      rmdirSync(path);
    } catch {
      // The runner removed it itself.
    }
  }
}
