// How an answer says who gave it: in a header of its own, or in the cookie that a balancer sets so that it finds the same replica
// again (`SERVERID=api-2; path=/`). Such a cookie is set once: an answer without it comes from whom the connection's last one
// came from.

import type { AnswerFields } from './carrier.ts';

export interface ReplicaMark {
  /** In lower case. */
  readonly header: string;
  /** Read instead of the header. */
  readonly cookie: string | undefined;
}

const defaultHeader = 'x-plimsoll-replica';

export const replicaMark = (group: {
  readonly replicaHeader?: string;
  readonly replicaCookie?: string;
}): ReplicaMark => ({
  header: (group.replicaHeader ?? defaultHeader).toLowerCase(),
  cookie: group.replicaCookie,
});

/** The value of the cookie of this name that an answer sets. */
export function cookieSet(fields: AnswerFields, cookie: string): string | undefined {
  let found: string | undefined;
  fields.each((name, value) => {
    if (name.toLowerCase() !== 'set-cookie' || !value.startsWith(`${cookie}=`)) return;
    const end = value.indexOf(';');
    found = value.slice(cookie.length + 1, end === -1 ? undefined : end).trim();
  });
  return found === '' ? undefined : found;
}
