// Who answered: a small number for each name that a replica header has ever carried, so that counting by replica is an
// array access.

/** A server that writes something new into the header each time must not fill our memory: names beyond so many are one. */
const namesMax = 4096;
const others = 'others';

export class ReplicaNames {
  readonly #names: string[] = [];
  readonly #indices = new Map<string, number>();

  /** Hot: the same name comes as the same string, whose hash is known. */
  indexOf(name: string): number {
    return this.#indices.get(name) ?? this.#add(this.#names.length < namesMax ? name : others);
  }

  nameOf(index: number): string {
    return this.#names[index] ?? others;
  }

  #add(name: string): number {
    const known = this.#indices.get(name);
    if (known !== undefined) return known;
    this.#indices.set(name, this.#names.length);
    this.#names.push(name);
    return this.#names.length - 1;
  }
}
