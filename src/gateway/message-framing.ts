// How a message is framed on its way on: where its body ends is decided once, from its head, and said in one way only.

import type { RequestHead, ResponseHead } from '../wire.ts';
import type { BodyFraming } from './heads.ts';

export function requestFraming(head: RequestHead): BodyFraming {
  if (head.chunked) return 'chunked';
  return head.contentLength === undefined ? 'none' : 'length';
}

/** The upgrade that is passed on. Not h2c: what would follow is no longer one request at a time. Not that of a request with a
 * body: where it ends and the tunnel begins would be a question. */
export function upgradeForwarded(head: RequestHead, complete: boolean): string | undefined {
  if (head.upgrade === undefined || !complete) return undefined;
  return head.upgrade.toLowerCase() === 'h2c' ? undefined : head.upgrade;
}

/** The client can do something with fields behind the body (RFC 9110 section 10.1.4). */
export function takesTrailers(head: RequestHead): boolean {
  return (
    head.minorVersion === 1 && head.has('te') && /(^|,)[ \t]*trailers[ \t]*($|[;,])/i.test(head.header('te') ?? '')
  );
}

export function answerFraming(head: ResponseHead, method: string, clientMinorVersion: 0 | 1): BodyFraming {
  if (head.status === 204 || head.status === 101) return 'none';
  if (head.contentLength !== undefined) return 'length';
  if (method === 'HEAD' || head.status === 304) return 'none';
  return clientMinorVersion === 1 ? 'chunked' : 'until-close';
}
