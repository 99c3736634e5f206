// Every process of one lab is started here, and none outlives it. The warden (programs/warden.ts) keeps that promise
// when the runner itself cannot.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { seconds } from '../base.ts';
import { ChildProgram, type ChildOptions } from './child-program.ts';
import type { LabEvent } from './contract.ts';
import { type CpuGroup, type CpuGroups, openCpuGroups } from './cpu-groups.ts';
import { LabError } from './lab-error.ts';

/** The command that runs one of the lab's own programs. */
export function ownProgram(name: 'replica' | 'datastore' | 'warden'): readonly string[] {
  const path = join(import.meta.dirname, 'programs', `${name}.ts`);
  return [process.execPath, '--disable-warning=ExperimentalWarning', path];
}

export type NurseryChild = Omit<ChildOptions, 'token' | 'onLine'>;

export class Nursery {
  /** What every process of this lab has in its environment, and what its cgroups are named after. */
  readonly token = randomBytes(12).toString('hex');
  readonly #onEvent: (event: LabEvent) => void;
  readonly #children = new Set<ChildProgram>();
  readonly #warden: ChildProgram;
  #cpuGroups: CpuGroups | string | undefined;
  #closed = false;

  constructor(onEvent: (event: LabEvent) => void) {
    this.#onEvent = onEvent;
    this.#warden = new ChildProgram({
      name: 'warden',
      command: [...ownProgram('warden'), this.token],
      token: this.token,
      onLine: (line) => this.#say('warden', line),
      onLost: (how) => this.#say('warden', `${how}; processes may remain if this run is killed`),
    });
  }

  /** Resolves when the warden watches. Rejects with a `LabError` when it could not be started. */
  async guarded(): Promise<void> {
    await this.#warden.ready();
  }

  start(options: NurseryChild): ChildProgram {
    if (this.#closed) throw new LabError(`${options.name} was not started: the lab has been closed`);
    const child = new ChildProgram({
      ...options,
      token: this.token,
      onLine: (line) => this.#say(options.name, line),
    });
    this.#children.add(child);
    const { pid } = child;
    if (pid !== undefined) this.#warden.write(JSON.stringify({ pid }));
    void this.#forget(child);
    return child;
  }

  /** A cgroup that gives its processes `cores`. Undefined when none can be made: the event says why, once. */
  limitCpu(name: string, cores: number): CpuGroup | undefined {
    if (this.#cpuGroups === undefined) {
      this.#cpuGroups = openCpuGroups(this.token);
      if (typeof this.#cpuGroups === 'string') {
        const detail = `no CPU quota: ${this.#cpuGroups}; the worker pool alone is the capacity of a replica`;
        this.#onEvent({ event: 'limit-reached', target: name, detail });
      } else {
        this.#warden.write(JSON.stringify({ cgroup: this.#cpuGroups.path }));
      }
    }
    if (typeof this.#cpuGroups === 'string') return undefined;
    const group = this.#cpuGroups.make(name, cores);
    this.#warden.write(JSON.stringify({ cgroup: group.path }));
    return group;
  }

  /** Kills every child, waits for it, removes the cgroups; the warden looks once more and goes. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#children].map((child) => child.kill()));
    if (typeof this.#cpuGroups === 'object') this.#cpuGroups.remove();
    await this.#warden.closeStdin(seconds(6));
  }

  async #forget(child: ChildProgram): Promise<void> {
    await child.ended;
    this.#children.delete(child);
    if (child.pid !== undefined) this.#warden.write(JSON.stringify({ gone: child.pid }));
  }

  #say(target: string, detail: string): void {
    this.#onEvent({ event: 'program-said', target, detail });
  }
}
