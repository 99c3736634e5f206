// Many cursors, one beginning: whoever stands at the head of the list is asked by all of them.

import { digits, percent } from '../../wording.ts';
import { isEven, rangeOf, spreadOf, timesOf } from '../spread.ts';
import { claim, type DossierTheory } from '../theory.ts';
import type { Fleet } from '../fleet.ts';
import type { View } from '../view.ts';

export const rrSynchronisedStart: DossierTheory = {
  slug: 'rr-synchronised-start',
  title: 'Synchronised round robin: every cursor begins at the same first endpoint',
  mechanism:
    'Each worker of each proxy keeps a round-robin cursor of its own, and makes it anew at the first endpoint whenever the ' +
    'list changes. If a worker passes on fewer requests between two changes than there are endpoints, nobody ever comes to ' +
    'the end of the list. With m requests for a cursor, place p of the list is reached by those that had more than p: its ' +
    'expected share falls as P(Poisson(m) > p).',
  refutedBy: 'Requests that do not fall with the place in the list, or cursors that go round many times.',
  provedBy: 'Counts by place that follow P(Poisson(m) > p), with m from the count of the first place alone.',
  lookAlikes: ['slow-replica', 'connection-pinning', 'accept-imbalance', 'pick-first'],
  fix: 'Begin each cursor at a random place, or choose by load (least-request, peak EWMA); change the list less often.',
  decidedBy: 'requests by endpoint in the order of the list, and when the list changed',
  explains: ['pick-first', 'slow-replica', 'connection-pinning', 'zone-imbalance'],

  examine(view) {
    const policy = view.setting('balance.policy');
    const shape = shapeOf(view);
    if (shape === undefined) return undefined;
    const syncs = view.events(
      ({ event }) =>
        event === 'backend-sync' || event === 'upstream-change' || event === 'scaled' || event === 'reload',
    );
    const cursors = cursorsOf(view);
    const times = rangeOf(timesOf(shape.fleet.members));
    const restarts = restartsOf(
      view,
      shape.fleet,
      syncs.flatMap(({ atMs }) => atMs ?? []),
    );
    return {
      claims: [
        claim('The policy is round robin, with a cursor for each worker.', {
          bearing: 'necessary',
          predicted: 'round-robin',
          refutes: 'a choice by load, by key or at random',
          seen:
            policy === undefined
              ? undefined
              : {
                  text: `${policy.scope}: ${policy.value}`,
                  holds: view.settings('balance.policy').some(({ value }) => value === 'round-robin'),
                  origins: [policy.origin],
                },
          missing: 'the balancing policy',
        }),
        claim('There are several cursors.', {
          bearing: 'necessary',
          predicted: 'at least two workers or proxies',
          refutes: 'a single cursor',
          seen: cursors === undefined ? undefined : { text: String(cursors), holds: cursors >= 2 },
          missing: 'how many workers and proxies there are',
        }),
        claim('Requests do not merely follow connections.', {
          bearing: 'necessary',
          predicted: 'not the same number on every connection',
          refutes: 'as many requests on each of unevenly spread connections',
          seen: followsConnections(shape.fleet),
          missing: 'connections by endpoint',
        }),
        claim('Requests fall with the place in the list.', {
          bearing: 'necessary',
          predicted: 'the first third of the list has more than half of all',
          refutes: 'a spread that has nothing to do with the list',
          seen: {
            text: `${percent(shape.headShare)} at the first third of ${shape.places}`,
            holds: shape.headShare > 0.5,
            origins: shape.fleet.origins,
          },
        }),
        claim('The counts are those of cursors that all begin at the first place.', {
          bearing: 'sufficient',
          predicted: `P(Poisson(${digits(shape.rounds)}) > p) at place p, at most ${percent(shape.allowed)} of the requests elsewhere`,
          refutes: 'counts that fall in another way',
          seen: {
            text: `${percent(shape.distance)} elsewhere`,
            holds:
              shape.distance <= shape.allowed &&
              shape.total >= 30 &&
              (shape.places >= 12 || (shape.places >= 6 && policy !== undefined)),
          },
        }),
        claim('A cursor gets fewer requests between two changes than there are endpoints.', {
          bearing: 'supporting',
          predicted: `fewer than ${shape.places}`,
          refutes: 'cursors that go round many times',
          seen:
            cursors === undefined
              ? undefined
              : {
                  text: `${digits(shape.total / Math.max(1, syncs.length) / cursors)} for each of ${cursors} cursors`,
                  holds: shape.total / Math.max(1, syncs.length) / cursors < shape.places,
                },
          missing: 'how many workers and proxies there are',
        }),
        claim('After every change of the list it begins anew at the head.', {
          bearing: 'supporting',
          predicted: 'the first requests go to the first quarter of the list',
          refutes: 'a cursor that goes on where it was',
          seen: restarts,
          missing: 'when the list of endpoints changed',
        }),
        claim('The endpoints are equally fast.', {
          bearing: 'supporting',
          predicted: 'mean times within a factor of 1.5',
          refutes: 'an endpoint that is slow or fast',
          seen:
            times === undefined
              ? undefined
              : { text: `${digits(times.least * 1000)} to ${digits(times.most * 1000)} ms`, holds: times.times <= 1.5 },
          missing: 'times by endpoint',
        }),
      ],
      culprit: `${whoOf(view, shape.fleet)}: per-worker round-robin cursors, reset to the first endpoint at every change of the list`,
      sentence: `Every worker starts its round robin at the head of the list${syncs.length > 1 ? ' after each change of the endpoints' : ''}, so ${percent(shape.headShare)} of the requests go to the first third of ${shape.places} endpoints.`,
      arithmetic: [
        `${digits(shape.first)} of ${digits(shape.total)} requests at the first place: a cursor passes on ${digits(shape.rounds)} before it begins anew`,
        ...[0, Math.round(shape.rounds), Math.round(2 * shape.rounds)]
          .filter((place, index, all) => place < shape.places && all.indexOf(place) === index)
          .map(
            (place) =>
              `place ${place + 1}: expected ${digits(shape.expected[place] ?? 0)}, seen ${digits(shape.counts[place] ?? 0)}`,
          ),
      ],
    };
  },
};

interface Shape {
  readonly fleet: Fleet;
  readonly places: number;
  readonly counts: readonly number[];
  readonly total: number;
  readonly first: number;
  /** Requests that a cursor passes on before it begins anew, from the first place. */
  readonly rounds: number;
  readonly expected: readonly number[];
  /** Share of the requests that stand at other places than expected. */
  readonly distance: number;
  /** What chance alone would put elsewhere, and workers that are not equally busy. */
  readonly allowed: number;
  readonly headShare: number;
}

/** The fleet whose counts come closest to those of synchronised cursors, of those whose counts are uneven at all. */
function shapeOf(view: View): Shape | undefined {
  return view.fleets
    .filter((fleet) => !isFair(view, fleet))
    .flatMap((fleet) => shapeIn(fleet, endpointsOf(view, fleet)) ?? [])
    .toSorted((one, other) => one.distance - other.distance)[0];
}

/** Those at the end of the list came last, and each has its part of what came since. */
function isFair(view: View, fleet: Fleet): boolean {
  const spread = spreadOf(fleet, 'requests', view.fairShares);
  return spread !== undefined && fleet.members.every(({ id }) => view.fairShares.has(id)) && isEven(spread);
}

/** How many endpoints there are, with those that no log mentions because they got nothing. */
function endpointsOf(view: View, fleet: Fleet): number {
  const told = view
    .events(({ event }) => /sync|change|scaled/.test(event))
    .map(({ detail }) => Number(/(?:endpoints|replicas|nodes)=(\d+)(?:\s|$)/.exec(detail ?? '')?.[1] ?? 0));
  const set = view.number('upstream.endpoints', ({ scope }) => fleet.of !== '' && scope.includes(fleet.of)) ?? 0;
  return Math.max(fleet.members.length, set, ...told);
}

function shapeIn(fleet: Fleet, endpoints: number): Shape | undefined {
  const unseen = Array.from({ length: endpoints - fleet.members.length }, () => 0);
  const counts = [...fleet.members.map(({ requests = 0 }) => requests), ...unseen];
  const total = counts.reduce((sum, count) => sum + count, 0);
  const first = counts[0] ?? 0;
  if (counts.length < 4 || first === 0 || first / total > 0.6 || first < (1.3 * total) / counts.length)
    return undefined;
  const rounds = roundsOf(total / first);
  const cursors = total / rounds;
  const expected = counts.map((_, place) => cursors * poissonAbove(rounds, place));
  const distance = counts.reduce((sum, count, place) => sum + Math.abs(count - (expected[place] ?? 0)), 0) / 2 / total;
  const third = Math.ceil(counts.length / 3);
  const used = counts.filter((count) => count > 0).length;
  return {
    fleet,
    places: counts.length,
    counts,
    total,
    first,
    rounds,
    expected,
    distance,
    allowed: 0.06 + 0.4 * Math.sqrt(used / total),
    headShare: counts.slice(0, third).reduce((sum, count) => sum + count, 0) / total,
  };
}

/** m with m / (1 − e^−m) = ratio: all requests over those of the first place. */
function roundsOf(ratio: number): number {
  let rounds = ratio;
  for (let turn = 0; turn < 50; turn++) rounds = ratio * (1 - Math.exp(-rounds));
  return Math.max(rounds, 1e-6);
}

/** P(Poisson(mean) > place). */
function poissonAbove(mean: number, place: number): number {
  let term = Math.exp(-mean);
  let below = term;
  for (let k = 1; k <= place; k++) {
    term *= mean / k;
    below += term;
  }
  return Math.max(0, 1 - below);
}

function followsConnections(fleet: Fleet): { text: string; holds: boolean } | undefined {
  const each = rangeOf(
    fleet.members.flatMap(({ requests, connections = 0 }) =>
      requests === undefined || connections <= 0 ? [] : [requests / connections],
    ),
  );
  if (each === undefined) return undefined;
  return { text: `${digits(each.least)} to ${digits(each.most)} on a connection`, holds: each.times > 1.6 };
}

function cursorsOf(view: View): number | undefined {
  const workers = view.number('workers.processes');
  if (workers === undefined) return undefined;
  const proxies = view.number('replicas.count', ({ scope }) => view.setting('workers.processes')?.scope === scope) ?? 1;
  return workers * proxies;
}

function whoOf(view: View, fleet: Fleet): string {
  const [table] = view.tables;
  const workers = view.setting('workers.processes');
  const name = table?.program ?? workers?.program ?? 'the balancer';
  const scope = workers === undefined || workers.program === name ? '' : ` (${workers.scope})`;
  return `${name === 'nginx' && fleet.of !== '' ? 'ingress controller' : name} workers${scope}`;
}

/** Where the first requests after each change went. */
function restartsOf(
  view: View,
  fleet: Fleet,
  changes: readonly number[],
): { readonly text: string; readonly holds: boolean } | undefined {
  const [table] = view.tables;
  if (table === undefined || changes.length < 2 || table.replicas.length === 0) return undefined;
  const placeOf = new Map(fleet.members.map(({ id }, place) => [id, place]));
  const rows = Array.from({ length: table.count }, (_, row) => row).toSorted(
    (one, other) => (table.startMs[one] ?? 0) - (table.startMs[other] ?? 0),
  );
  const quarter = Math.ceil(fleet.members.length / 4);
  const shares = changes.flatMap((at) => {
    const next = rows.filter((row) => (table.startMs[row] ?? 0) >= at).slice(0, 10);
    const places = next.flatMap((row) => placeOf.get(table.replicas[table.replica[row] ?? -1] ?? '') ?? []);
    return places.length < 5 ? [] : [places.filter((place) => place < quarter).length / places.length];
  });
  if (shares.length < 2) return undefined;
  return {
    text: `${shares.map((share) => percent(share)).join(', ')} after each of ${shares.length} changes`,
    holds: shares.every((share) => share >= 0.6),
  };
}
