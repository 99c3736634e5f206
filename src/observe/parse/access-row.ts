// One access-log entry as pairs of key and value, whatever it was written in: `key=value` lines and JSON lines both end here.
//
// Two passes: over the head of the file, to learn the units that keys do not name and what the program is; then over every
// line. When an entry was written is asked only where keys do not tell: most programs write when they are done.

import { type AccessField, fieldOf, type FieldMeaning, unitOf } from './access-fields.ts';
import { parseInstant } from './instants.ts';
import { parseSeconds } from './quantities.ts';
import type { RequestRow } from './request-table.ts';

export type Pairs = Iterable<readonly [string, unknown]>;

export class AccessRows {
  /** `nginx`, `envoy`, … by the words of its keys; `access-log` when they are nobody's. */
  readonly program: string;
  /** Whether the keys say that times are beginnings; undefined: they do not say. */
  readonly timesAreStarts: boolean | undefined;
  readonly #meanings = new Map<string, FieldMeaning | undefined>();
  readonly #units = new Map<string, number>();
  readonly #found = new Map<AccessField, { value: unknown; key: string; rank: number; unit: number | undefined }>();

  /** `examples`: entries of the head. */
  constructor(examples: readonly Pairs[]) {
    const keys = new Set<string>();
    const durations = new Map<string, number[]>();
    for (const pairs of examples) {
      for (const [key, value] of pairs) {
        keys.add(key);
        const meaning = this.#meaning(key);
        const number = Number(value);
        if (meaning?.field.endsWith('econds') !== true || meaning.unit !== undefined || !Number.isFinite(number))
          continue;
        durations.set(key, [...(durations.get(key) ?? []), number]);
      }
    }
    this.program = programOf(keys);
    for (const [key, values] of durations) {
      // Traefik counts all its durations in nanoseconds, short ones too.
      this.#units.set(key, this.program === 'traefik' ? 1e-9 : unitOf(values));
    }
    const fields = new Set([...keys].map((key) => this.#meaning(key)?.field));
    this.timesAreStarts =
      fields.has('start') || this.program === 'envoy' ? true : this.program === 'nginx' ? false : undefined;
  }

  /** Seconds in one unit of a key's values; undefined for keys of no duration. */
  unitOf(key: string): number | undefined {
    const meaning = this.#meaning(key);
    if (meaning?.field.endsWith('econds') !== true) return undefined;
    return meaning.unit ?? this.#units.get(key) ?? 1e-3;
  }

  /** Puts the pairs into the row; whether they are a request: a status or a duration, and something that was asked. */
  fill(row: RequestRow, pairs: Pairs): boolean {
    const found = this.#found;
    found.clear();
    for (const [key, value] of pairs) {
      const meaning = this.#meaning(key);
      if (meaning === undefined || value === undefined || value === null || value === '' || value === '-') continue;
      // `ua` is the upstream's address in one log and the user agent in the next.
      if (meaning.field === 'replica' && !isName(value)) continue;
      const before = found.get(meaning.field);
      if (before === undefined || meaning.rank < before.rank) {
        found.set(meaning.field, { value, key, rank: meaning.rank, unit: meaning.unit });
      }
    }
    this.#fillTimes(row);
    this.#fillNumbers(row);
    this.#fillNames(row);
    const asked = row.route !== undefined || row.replica !== undefined || !Number.isNaN(row.startMs);
    return asked && (row.status >= 0 || !Number.isNaN(row.seconds));
  }

  #fillTimes(row: RequestRow): void {
    const at = parseInstant(this.#value('start')) ?? parseInstant(this.#value('time'));
    row.seconds = this.#seconds('seconds');
    row.upstreamSeconds = this.#seconds('upstreamSeconds');
    if (Number.isNaN(row.upstreamSeconds)) row.upstreamSeconds = this.#seconds('headerSeconds');
    row.connectSeconds = this.#seconds('connectSeconds');
    row.queueSeconds = this.#seconds('queueSeconds');
    if (at === undefined) return;
    const ended = this.timesAreStarts === false && !Number.isNaN(row.seconds);
    row.startMs = ended ? at.ms - row.seconds * 1000 : at.ms;
  }

  #fillNumbers(row: RequestRow): void {
    row.status = statusOf(lastOf(this.#value('status')));
    row.upstreamStatus = statusOf(lastOf(this.#value('upstreamStatus')));
    const addresses = this.#value('replica');
    const attempts = Number(this.#value('attempts'));
    const retries = Number(this.#value('retries'));
    if (Number.isInteger(attempts)) row.attempts = attempts;
    else if (Number.isInteger(retries)) row.attempts = retries + 1;
    else if (this.#listsTries() && typeof addresses === 'string') row.attempts = addresses.split(/, ?| : /).length;
    if (row.upstreamStatus < 0 && this.#value('details') === 'via_upstream') row.upstreamStatus = row.status;
  }

  #fillNames(row: RequestRow): void {
    const group = this.#group();
    row.replica = group === undefined ? this.#replica() : undefined;
    const client = textOf(firstOf(this.#value('client')));
    // Some logs say under `client` or `caller` not who it was but that it had gone.
    const gone = departure.test(client ?? '');
    row.client = gone ? undefined : client?.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
    const details = textOf(this.#value('details'));
    const flag = textOf(this.#value('flag'));
    row.flag =
      (flag === undefined ? undefined : withReason(flag, details ?? '')) ??
      (gone ? 'client-left' : undefined) ??
      (details === 'via_upstream' ? undefined : details);
    row.service = textOf(this.#value('service')) ?? group;
    row.worker = textOf(this.#value('worker'));
    row.route = this.#route();
  }

  #replica(): string | undefined {
    const name = replicaOf(lastOf(this.#value('replica')));
    if (name !== undefined) return name;
    const host = textOf(this.#value('service'));
    return host !== undefined && address.test(host) ? host : undefined;
  }

  /** nginx writes the name of the group where an address would stand when no server could be chosen. */
  #group(): string | undefined {
    if (!this.#listsTries()) return undefined;
    const found = this.#found.get('replica');
    const name = textOf(lastOf(found?.value));
    return name === undefined || /:\d+$|^unix:/.test(name) ? undefined : name;
  }

  /** Whether the replica is written by nginx, which writes all that were tried. */
  #listsTries(): boolean {
    return this.program === 'nginx' && upstreamKey.test(this.#found.get('replica')?.key ?? '');
  }

  #route(): string | undefined {
    const method = textOf(this.#value('method'));
    const path = textOf(this.#value('path'));
    const request = textOf(this.#value('request'));
    const line = request === undefined ? null : /^([A-Z]+) (\S+)/.exec(request);
    if (line !== null) return `${line[1]} ${withoutQuery(line[2] ?? '')}`;
    const target = path ?? (request?.startsWith('/') === true ? request : undefined);
    if (target !== undefined) return method === undefined ? withoutQuery(target) : `${method} ${withoutQuery(target)}`;
    return textOf(this.#value('route'));
  }

  #value(field: AccessField): unknown {
    return this.#found.get(field)?.value;
  }

  #seconds(field: AccessField): number {
    const found = this.#found.get(field);
    if (found === undefined) return Number.NaN;
    const unit = found.unit ?? this.#units.get(found.key) ?? 1e-3;
    const seconds = parseSeconds(lastOf(found.value), unit);
    return seconds === undefined || seconds < 0 ? Number.NaN : seconds;
  }

  #meaning(key: string): FieldMeaning | undefined {
    const known = this.#meanings.get(key);
    if (known !== undefined || this.#meanings.has(key)) return known;
    const meaning = fieldOf(key);
    if (this.#meanings.size < 1000) this.#meanings.set(key, meaning);
    return meaning;
  }
}

/** What stands in the place of a client that is no longer there. */
export const departure = /^(?:disconnected|gone|left|aborted|cancell?ed)$/;
const address = /^\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?$/;
const upstreamKey = /^(?:upstream|upstream_addr|ua|up)$/;

/** Envoy says UF for every connection that could not be made, and only beside it that there was no address to make it from. */
export function withReason(flag: string | undefined, details: string): string | undefined {
  return flag !== undefined &&
    /cannot.assign.requested.address|address.not.available|connect.error:.99\b/i.test(details)
    ? `${flag},address-not-available`
    : flag;
}

/** `scheme://host/path?query` → `/path`. */
export function withoutQuery(target: string): string {
  const path = target.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  const end = path.search(/[?#]/);
  return (end === -1 ? path : path.slice(0, end)) || '/';
}

/** Of several tries nginx writes a list, in step in all its upstream variables; the last is the one that counted. */
export function lastOf(value: unknown): unknown {
  if (typeof value !== 'string' || !value.includes(', ')) {
    return typeof value === 'string' && value.includes(' : ') ? value.split(' : ').at(-1) : value;
  }
  return value
    .split(/, | : /)
    .at(-1)
    ?.trim();
}

function firstOf(value: unknown): unknown {
  return typeof value === 'string' ? value.split(',')[0]?.trim() : value;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' || value === '-' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function statusOf(value: unknown): number {
  const status = typeof value === 'number' ? value : /^\d{1,3}$/.test(String(value)) ? Number(value) : -1;
  return Number.isInteger(status) && status >= 0 && status <= 999 ? status : -1;
}

/** A word without blanks; a user agent has some, or a slash and a version. */
function isName(value: unknown): boolean {
  if (typeof value === 'number') return true;
  if (typeof value !== 'string') return false;
  const last = String(lastOf(value));
  return !/\s/.test(last) && !/^[\w-]+\/\d/.test(last);
}

function replicaOf(value: unknown): string | undefined {
  return textOf(value)
    ?.replace(/^(?:https?|grpc|tcp):\/\//, '')
    .replace(/\/$/, '');
}

function programOf(keys: ReadonlySet<string>): string {
  const words = [...keys].join(' ').toLowerCase();
  if (/envoy|response_flags?|upstream_cluster/.test(words)) return 'envoy';
  if (/originduration|downstreamstatus/.test(words)) return 'traefik';
  if (/\b(?:rt|request_time|upstream_response_time|uht|ut)\b/.test(words)) return 'nginx';
  return 'access-log';
}
