// What an incident left behind, understood: the facts that readers of foreign files hand to the diagnosis. A run of our own
// leaves a record of ticks; a person leaves logs, scrapes, configurations and notes. Whatever the format was, it becomes one
// of a few kinds of fact here, each with where it stood.
//
//   settings      what was configured (or, said so, the program's default because nothing was)
//   samples       numbers at an instant: scrapes, statistics pages, command output
//   series        numbers over time
//   requests      one row a request: access logs, columns rather than objects, so that millions fit
//   results       what a load generator reported at its end
//   messages      what a program said: error logs, kernel log, console output
//   events        what happened when: deploys, restarts, scaling, health changes, a person's timeline
//
// Plain data but for the columns. Instants are epoch milliseconds; durations are seconds; sizes are bytes; shares 0–1.

import type { SettingKey } from './dossier-keys.ts';

/** Where a fact stood. */
export interface Origin {
  readonly file: string;
  readonly line?: number;
}

export interface Dossier {
  readonly sources: readonly SourceNote[];
  readonly settings: readonly SettingFact[];
  readonly samples: readonly SampleFact[];
  readonly series: readonly SeriesFact[];
  readonly requests: readonly RequestTable[];
  readonly results: readonly LoadResultFact[];
  readonly messages: readonly MessageFact[];
  readonly events: readonly EventFact[];
}

/** One file: what it was taken for and how much of it was understood. */
export interface SourceNote {
  readonly file: string;
  /** `Envoy access log (default format)`, `Prometheus text`, … */
  readonly format: string;
  readonly lines: number;
  readonly understood: number;
  /** The first few lines that were not. */
  readonly foreign: readonly { readonly line: number; readonly text: string }[];
}

/** One setting of one program. `key` is from a closed vocabulary (`dossier-keys.ts`), the same whatever program it is. */
export interface SettingFact {
  /** `nginx`, `envoy`, `haproxy`, `kubernetes`, `node`, `notes`, … */
  readonly program: string;
  /** What in it is set: `upstream backend`, `cluster shop`, `route /report`, `deployment web`, `pool payment`, … */
  readonly scope: string;
  readonly key: SettingKey;
  /** Durations in seconds, sizes in bytes, shares 0–1; words in their usual lower-case form. */
  readonly value: number | string | boolean;
  /** Not written anywhere: the program's documented default, which binds because nothing else was said. */
  readonly implied: boolean;
  readonly origin: Origin;
}

/** One number at one instant. A scrape gives many; two scrapes of one counter give a difference. */
export interface SampleFact {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly type: 'counter' | 'gauge' | 'unknown';
  /** Which reading of possibly several this belongs to: files of one family, in their order (`scrape-t0`, `scrape-t300`). */
  readonly reading: number;
  readonly atMs: number | undefined;
  readonly origin: Origin;
}

export interface SeriesFact {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Instants and values, equally long, instants rising. */
  readonly atMs: readonly number[];
  readonly values: readonly number[];
  readonly origin: Origin;
}

/** An access log in columns. Row i of every column is one request; −1 or NaN: not in the log. Texts are interned. */
export interface RequestTable {
  readonly program: string;
  readonly origin: Origin;
  readonly count: number;
  /** Rows left out because there were too many: the columns are then an even sample of `count` of them. */
  readonly skipped: number;
  readonly startMs: Float64Array;
  /** Seconds, whole request. */
  readonly seconds: Float64Array;
  /** Seconds the upstream took, of the last try; NaN when it never answered. */
  readonly upstreamSeconds: Float64Array;
  /** Seconds it waited in the balancer for a free place; NaN: not in the log. */
  readonly queueSeconds: Float64Array;
  /** Seconds to connect to the upstream; NaN: not in the log, or never tried. */
  readonly connectSeconds: Float64Array;
  readonly status: Int16Array;
  /** What the upstream itself answered; −1: nothing. */
  readonly upstreamStatus: Int16Array;
  readonly attempts: Int32Array;
  /** Index into `replicas`, `clients`, `routes`, `flags`, `workers`, `services`; −1: none. */
  readonly replica: Int32Array;
  readonly client: Int32Array;
  readonly route: Int32Array;
  readonly flag: Int32Array;
  readonly service: Int32Array;
  readonly worker: Int32Array;
  readonly replicas: readonly string[];
  readonly clients: readonly string[];
  /** Method and path without query. */
  readonly routes: readonly string[];
  /** What the proxy said of the end: Envoy's response flags, HAProxy's termination state, a balancer's error reason. */
  readonly flags: readonly string[];
  readonly services: readonly string[];
  readonly workers: readonly string[];
  /** How precise the instants are, in milliseconds. */
  readonly stepMs: number;
}

/** What a load generator reported when it was done. Absent: not reported. */
export interface LoadResultFact {
  readonly tool: string;
  /** To tell several runs apart: the file, or the name the tool gave. */
  readonly run: string;
  readonly requests?: number;
  readonly ratePerSecond?: number;
  readonly plannedRatePerSecond?: number;
  readonly errors?: number;
  readonly errorsByKind?: Readonly<Record<string, number>>;
  readonly statuses?: Readonly<Record<string, number>>;
  readonly dropped?: number;
  readonly users?: number;
  readonly usersMax?: number;
  readonly connections?: number;
  readonly seconds?: number;
  /** Seconds by quantile: `0.5`, `0.95`, `0.99`, `1`; and `mean`. */
  readonly latency?: Readonly<Record<string, number>>;
  /** The same without correction for coordinated omission, where the tool gives both. */
  readonly uncorrected?: Readonly<Record<string, number>>;
  readonly connectSeconds?: Readonly<Record<string, number>>;
  /** Lower bounds (seconds) and counts of a printed histogram. */
  readonly histogram?: readonly { readonly seconds: number; readonly count: number }[];
  readonly origin: Origin;
}

export interface MessageFact {
  readonly program: string;
  readonly atMs: number | undefined;
  /** Short and stable: `upstream-timeout`, `no-live-upstreams`, `conntrack-full`, `server-down`, `pool-timeout`, `address-in-use`, … */
  readonly code: string;
  /** What it is about, as far as the message says: a server, an upstream, a pool. */
  readonly subject?: string;
  readonly text: string;
  readonly origin: Origin;
}

export interface EventFact {
  readonly atMs: number | undefined;
  /** `deploy`, `rollout-start`, `rollout-end`, `pod-started`, `pod-terminating`, `removed-from-balancer`, `unhealthy`, `healthy`, `scaled`, `trigger-start`, `trigger-end`, `backend-sync`, `note`, … */
  readonly event: string;
  readonly subject?: string;
  readonly detail?: string;
  readonly origin: Origin;
}

export const emptyDossier: Dossier = {
  sources: [],
  settings: [],
  samples: [],
  series: [],
  requests: [],
  results: [],
  messages: [],
  events: [],
};
