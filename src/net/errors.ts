// The system's error codes, in our few words. What stays `other` keeps its code, so that nothing is lost in counting.

import type { NetError, NetErrorKind } from './engine.ts';

const kinds: Readonly<Record<string, NetErrorKind>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ECONNABORTED: 'reset',
  ETIMEDOUT: 'connect-timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  EAI_NONAME: 'dns',
  EADDRNOTAVAIL: 'no-ports',
  EMFILE: 'no-files',
  ENFILE: 'no-files',
  ENOBUFS: 'no-files',
  EADDRINUSE: 'address-in-use',
};

/** `ETIMEDOUT` on an open connection is the kernel giving up on retransmission: the peer is gone, as after a reset. */
export function netError(stage: NetError['stage'], code: string, message: string): NetError {
  let kind = kinds[code] ?? (/^ERR_(TLS|SSL|OSSL)|CERT|SELF_SIGNED|^UNABLE_TO|^EPROTO$/.test(code) ? 'tls' : 'other');
  if (code === 'ETIMEDOUT' && stage === 'open') kind = 'reset';
  if (code === 'EADDRINUSE' && stage === 'connect') kind = 'no-ports';
  if (code === 'EADDRNOTAVAIL' && stage === 'listen') kind = 'other';
  return { kind, stage, code, message };
}
