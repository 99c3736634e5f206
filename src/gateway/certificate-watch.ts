// Notices when a file that a configuration names has changed. Folders are watched, not files: certificates are renewed by putting
// another file, or another link, in the place of the old one. A change is told once things have been quiet for a moment, since
// certificate and key are two files; whoever is told looks at what is there then.

import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';

const quietMs = 150;

export class FileWatch {
  readonly #changed: () => void;
  #watchers: readonly FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Watches these files from now on, and no others. */
  follow(files: readonly string[]): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [...new Set(files.map((file) => dirname(file)))].flatMap((folder) => this.#watch(folder));
  }

  end(): void {
    this.follow([]);
    clearTimeout(this.#timer);
  }

  #watch(folder: string): readonly FSWatcher[] {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#soon());
      // A folder that goes away takes its watch with it; a reload makes a new one.
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      return [];
    }
  }

  #soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#changed(), quietMs);
    this.#timer.unref();
  }
}
