// What a request sticks to: the hash of the first thing in the list that it has. The same key finds the same endpoint with
// `ring-hash`, `bounded-load`, `maglev` and `rendezvous`, on every gateway alike; other policies do not look at it.
//
//   hash_on: [cookie:session, source]      the session, or for who has none yet the address

import { hashText } from '../policy.ts';
import type { RequestHead } from '../wire.ts';
import type { HashSource } from './policy-config.ts';

/** 32 bits unsigned; undefined when the request has none of the sources. Hot where configured. */
export function keyOf(head: RequestHead, clientAddress: string, sources: readonly HashSource[]): number | undefined {
  for (const source of sources) {
    const text = textOf(head, clientAddress, source);
    if (text !== undefined && text !== '') return hashText(text);
  }
  return undefined;
}

function textOf(head: RequestHead, clientAddress: string, source: HashSource): string | undefined {
  switch (source.kind) {
    case 'header':
      return head.header(source.name);
    case 'cookie':
      return cookieOf(head.header('cookie') ?? '', source.name);
    case 'source':
      return clientAddress;
    case 'path':
      return withoutQuery(head.path);
  }
}

/** The value of a cookie (RFC 6265 section 4.2.1); of several of one name, the first. */
export function cookieOf(field: string, name: string): string | undefined {
  for (const pair of field.split(/[;,]/)) {
    const equals = pair.indexOf('=');
    if (equals !== -1 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

function withoutQuery(path: string): string {
  const question = path.indexOf('?');
  return question === -1 ? path : path.slice(0, question);
}
