// What decides the replica: whether every client, or every key, stays with one.

import { spreadOf, type Spread } from './spread.ts';
import type { View } from './view.ts';

export interface Ties {
  readonly spread: Spread;
  /** Share of the keys with five requests or more (two, where few have five) that one replica serves alone. */
  readonly faithful: number;
  readonly counted: number;
  /** Replicas that keys are tied to. */
  readonly used: number;
  readonly topKey: string;
  readonly topShare: number;
  readonly topReplica: string;
  readonly topReplicaShare: number;
}

const askedMin = 5;
/** Where hardly anybody asks so often, many that ask twice or more tell as much: none of them may have strayed by chance. */
const askedTwice = 2;
const manyKeys = 30;

export function ties(view: View, by: 'client' | 'route'): Ties | undefined {
  for (const table of view.tables) {
    const names = by === 'client' ? table.clients : table.routes;
    const column = by === 'client' ? table.client : table.route;
    if (names.length < 2 || table.replicas.length < 2) continue;
    const counts = new Map<number, Map<number, number>>();
    for (let row = 0; row < table.count; row++) {
      const key = column[row] ?? -1;
      const replica = table.replica[row] ?? -1;
      if (key < 0 || replica < 0) continue;
      const own = counts.get(key) ?? new Map<number, number>();
      counts.set(key, own.set(replica, (own.get(replica) ?? 0) + 1));
    }
    const fleet = view.fleets.find(
      (one) => one.by === 'replica' && table.replicas.every((id) => one.members.some((member) => member.id === id)),
    );
    const spread = fleet === undefined ? undefined : spreadOf(fleet, 'requests');
    if (spread === undefined) continue;
    const keys = [...counts]
      .map(([key, own]) => ({ key, own, total: sum(own) }))
      .toSorted((one, other) => other.total - one.total);
    const asked = askedOften(keys);
    const [top] = keys;
    if (top === undefined || asked.length === 0) continue;
    const home = [...top.own].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? -1;
    const topReplica = table.replicas[home] ?? '';
    const requests = spread.members.find(({ id }) => id === topReplica)?.requests ?? 0;
    return {
      spread,
      faithful: asked.filter(({ own }) => own.size === 1).length / asked.length,
      counted: asked.length,
      used: new Set(asked.flatMap(({ own }) => [...own.keys()])).size,
      topKey: names[top.key] ?? '',
      topShare: top.total / spread.total,
      topReplica,
      topReplicaShare: requests / spread.total,
    };
  }
  return undefined;
}

/** Keys that ask often enough to be seen straying; with fewer than three of those, the many that ask at least twice. */
function askedOften<Key extends { readonly total: number }>(keys: readonly Key[]): readonly Key[] {
  const often = keys.filter(({ total }) => total >= askedMin);
  const twice = keys.filter(({ total }) => total >= askedTwice);
  return often.length < 3 && twice.length >= manyKeys ? twice : often;
}

function sum(counts: ReadonlyMap<number, number>): number {
  return [...counts.values()].reduce((all, one) => all + one, 0);
}
