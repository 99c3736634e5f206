// What a log's form is, once it is known: what stands at each place of a line and what follows it. The form of nginx's combined log
// begins
//
//   client, until " - " · skip, until " [" · common time, until "] \"" · request, until "\" " · status, until " " · …
//
// How a value is written follows from what follows it: before a quote or a bracket it may hold blanks, else it is a word. So a
// value ends at exactly one place, and nothing is tried twice.

import type { AccessField } from './access-fields.ts';

/** What stands at a place of a line. */
export type Place =
  | 'skip'
  /** Of a value that may be a list of tries. */
  | 'skip-list'
  /** Of a value that is a number, or a dash where a number may be one. */
  | 'skip-number'
  /** Of a word that says nothing by itself: no number, address, method or length of time. */
  | 'skip-mute'
  /** `2026-03-04T14:00:15.250Z` · `04/Mar/2026:14:00:15 +0000` · `04/Mar/2026:14:00:15.250` · `1772632815.250` */
  | 'iso-time'
  | 'common-time'
  | 'local-time'
  | 'epoch-time'
  /** `GET /path?query HTTP/1.1`, in quotes. */
  | 'request'
  /** `GET /path?query` without more, in quotes or not. */
  | 'bare-request'
  /** In quotes at the end of the line, after what may stand in braces. */
  | 'last-request'
  | 'status'
  /** Without a key: three digits, the first of them 1 to 5. */
  | 'bare-status'
  | 'upstream-status'
  | 'seconds'
  /** With a fraction: a whole number would be a size. */
  | 'bare-seconds'
  | 'upstream-seconds'
  /** Counts where there is no `upstream-seconds`. */
  | 'header-seconds'
  | 'connect-seconds'
  | 'queue-seconds'
  /** Tries after the first. */
  | 'retries'
  | 'replica'
  /** As HAProxy writes it: in angle brackets when there was none, and then nobody was asked. */
  | 'server'
  /** As nginx writes it: a list of tries, or the name of a group when none was possible. */
  | 'tried'
  /** The first that is not a dash counts; `…-with-port`: without the port that follows it. */
  | 'client'
  | 'client-with-port'
  /** Without a key: an address, else it is none. */
  | 'bare-client'
  | 'flag'
  /** As Envoy writes it: capital letters first. Its details say more of some of them. */
  | 'envoy-flag'
  | 'details'
  /** As HAProxy writes it: four characters. */
  | 'termination'
  /** The last that is not a dash counts. */
  | 'service'
  | 'worker';

/** How a number may be written; what is written otherwise is no line of this form. */
export type NumberForm =
  /** `12` */
  | 'count'
  /** `12`, `-` */
  | 'count-or-dash'
  /** `12`, `-1`: less than nothing says nothing. */
  | 'integer'
  /** `0.012`, `-` */
  | 'decimal'
  /** The same, and of several tries a list, whose last one counts. */
  | 'tries';

export interface Step {
  readonly place: Place;
  /** What follows the value: it ends where this begins. Empty: the end of the line. */
  readonly before: string;
  /** Of numbers; `decimal` when nothing is said. */
  readonly number?: NumberForm;
  /** Of durations: how many of the unit make a second. */
  readonly perSecond?: number;
  /** A dash here means that another place counts: the line is declined. */
  readonly needed?: boolean;
  /** It may be put in quotes or brackets, or is, with a backslash before a quote within: what has to be taken out is declined. */
  readonly quotable?: boolean;
}

export interface Program {
  /** Text that every line begins with. */
  readonly prefix: string;
  readonly steps: readonly Step[];
  /** Whether the time on a line is that of its end. */
  readonly timesAreEnds: boolean;
  /** Whether the status came from the upstream; `when-timed`: where that took time. */
  readonly statusIsUpstreams: 'never' | 'always' | 'when-timed';
  /** Whether a service that is an address is who answered, where nobody else is named. */
  readonly serviceMayAnswer: boolean;
}

/** Where the fields of an access log have their place. A field without one is left to the slow reader, and so is its log. */
export const fieldPlaces: Readonly<Partial<Record<AccessField, Place>>> = {
  request: 'request',
  seconds: 'seconds',
  upstreamSeconds: 'upstream-seconds',
  headerSeconds: 'header-seconds',
  connectSeconds: 'connect-seconds',
  queueSeconds: 'queue-seconds',
  status: 'status',
  upstreamStatus: 'upstream-status',
  replica: 'replica',
  client: 'client',
  flag: 'flag',
  service: 'service',
  worker: 'worker',
};
