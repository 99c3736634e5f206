// The stories that are kept: the last so many, found by the id of their request. Bounded in every direction: stories, endpoints in a
// pick, picks and attempts in a story, length of texts: 22 KiB a story at most, 1.5 KiB for one pick among four (measured on the heap).
//
// Written down are: a share of all requests, drawn; those that ask for it (`x-plimsoll-explain: 1`) where that is allowed; and
// those that the gateway could not serve, of which only the present state of the fleet is known.

import { dice, type Dice, type Instant } from '../base.ts';
import type { RequestHead } from '../wire.ts';
import type { LiveEndpoint } from './live-endpoint.ts';
import type { LiveFleet } from './live-fleet.ts';
import { type Candidate, candidatesMax, type PickStory, type Story, StoryWriter } from './story.ts';

export interface ExplainConfig {
  /** Share of requests that are written down. */
  readonly sample: number;
  /** Stories kept. */
  readonly keep: number;
  /** A request may ask to be written down. */
  readonly onDemand: boolean;
  /** Requests that the gateway answers itself because something failed. */
  readonly failures: boolean;
}

const askHeader = 'x-plimsoll-explain';

export class Stories {
  readonly config: ExplainConfig;
  /** Stories written since the start. */
  written = 0;
  readonly #dice: Dice;
  /** In the order of their writing: a Map remembers it. */
  readonly #kept = new Map<string, Story>();

  constructor(config: ExplainConfig, seed: number) {
    this.config = config;
    this.#dice = dice(seed, 'gateway/stories');
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Hot where configured. A writer for a request that is to be written down from its beginning. */
  begin(head: RequestHead, now: Instant): StoryWriter | undefined {
    const { sample, onDemand } = this.config;
    if (onDemand && head.has(askHeader)) return new StoryWriter('asked', now);
    return sample > 0 && this.#dice.next() < sample ? new StoryWriter('sampled', now) : undefined;
  }

  keep(story: Story): void {
    this.written += 1;
    this.#kept.delete(story.id);
    if (this.#kept.size >= this.config.keep) {
      const oldest = this.#kept.keys().next();
      if (!oldest.done) this.#kept.delete(oldest.value);
    }
    this.#kept.set(story.id, story);
  }

  /** Of requests with the same id the latest. */
  of(id: string): Story | undefined {
    return this.#kept.get(id);
  }

  /** The latest first. */
  latest(count: number): readonly Story[] {
    return [...this.#kept.values()].slice(-count).toReversed();
  }
}

/** The fleet as it stands, as a pick sees it. Called just before a request is counted as started. */
export function pickOf(
  fleet: LiveFleet,
  chosen: LiveEndpoint | undefined,
  tried: readonly LiveEndpoint[],
  afterwards: boolean,
  now: Instant,
): Omit<PickStory, 'at_ms'> {
  const drawn = afterwards ? [] : fleet.drawn();
  const all = fleet.endpoints.map((live) => candidateOf(fleet, live, tried, now));
  const first = [...new Set([chosen, ...drawn].flatMap((live) => (live === undefined ? [] : [live.endpoint.id])))];
  const candidates = all.length <= candidatesMax ? all : mostTelling(all, first);
  return {
    policy: fleet.policy,
    chosen: chosen?.endpoint.id ?? null,
    drawn: drawn.map((live) => live.endpoint.id),
    afterwards,
    candidates,
    left_out: all.length - candidates.length,
  };
}

function candidateOf(fleet: LiveFleet, live: LiveEndpoint, tried: readonly LiveEndpoint[], now: Instant): Candidate {
  const { id, weight, zone, priority } = live.endpoint;
  const score = fleet.scoreOf(live, now);
  return {
    endpoint: id,
    excluded: live.excludedBy ?? (tried.includes(live) ? 'tried' : null),
    in_flight: live.inFlight,
    weight,
    zone: zone ?? null,
    priority: priority ?? 0,
    // Infinity and NaN are not JSON.
    score: score === undefined || !Number.isFinite(score) ? null : score,
  };
}

/** Whoever was chosen or compared, then the best by score, then the excluded. */
function mostTelling(all: readonly Candidate[], first: readonly string[]): readonly Candidate[] {
  const rank = (candidate: Candidate): number => {
    if (first.includes(candidate.endpoint)) return -2;
    return candidate.excluded === null ? -1 : 0;
  };
  return all
    .toSorted((one, other) => rank(one) - rank(other) || (one.score ?? Infinity) - (other.score ?? Infinity) || 0)
    .slice(0, candidatesMax);
}
