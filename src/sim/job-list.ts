// A list of jobs in order, linked through the pool's `next`. A job stands in one list at a time.

import type { Jobs } from './jobs.ts';

export class JobList {
  #head = -1;
  #tail = -1;

  push(job: number, jobs: Jobs): void {
    jobs.next[job] = -1;
    if (this.#tail < 0) this.#head = job;
    else jobs.next[this.#tail] = job;
    this.#tail = job;
  }

  clear(): void {
    this.#head = -1;
    this.#tail = -1;
  }

  /** The first one; −1 when there is none. */
  shift(jobs: Jobs): number {
    const job = this.#head;
    if (job < 0) return -1;
    this.#head = jobs.next[job] ?? -1;
    if (this.#head < 0) this.#tail = -1;
    return job;
  }
}
