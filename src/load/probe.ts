// One connection before the run, to learn what every request would learn: whether anybody listens, whether the certificate is one
// that we may trust, and which version of HTTP the server would speak. No request is sent.

import { ms } from '../base.ts';
import { type NetError, nodeEngine, type TlsTarget } from '../net.ts';
import type { LoadTarget } from './contract.ts';

export type Probe =
  | {
      readonly kind: 'open';
      /** What ALPN agreed on, of HTTP/2 and HTTP/1.1; undefined without TLS, or where the server does not take part. */
      readonly alpn: string | undefined;
    }
  | {
      readonly kind: 'failed';
      readonly error: NetError;
      /** What is wrong, and what would be right. */
      readonly message: string;
    };

/** Longer than one lost packet takes to be sent again. */
const connectTimeout = ms(5_000);

/** Connects once and hangs up. */
export async function probe(target: LoadTarget): Promise<Probe> {
  const { host, port, tls } = target;
  const engine = nodeEngine();
  const secure = tls === undefined ? {} : { tls: { ...tls, alpn: ['h2', 'http/1.1'] } };
  const found = await new Promise<Probe>((resolve) => {
    engine.connect(
      { host, port, connectTimeout, ...secure },
      {
        onOpen: (socket) => resolve({ kind: 'open', alpn: socket.tls?.alpn }),
        onData: () => {},
        onClose: (_socket, error) => resolve(error === undefined ? cut(target) : failed(target, error)),
      },
    );
  });
  await engine.close();
  return found;
}

function cut(target: LoadTarget): Probe {
  const message = 'the server closed during the handshake';
  return failed(target, { kind: 'tls', stage: 'connect', code: 'CLOSED', message });
}

function failed(target: LoadTarget, error: NetError): Probe {
  return { kind: 'failed', error, message: `${target.id}: ${reasonOf(target, error)}` };
}

function reasonOf({ host, port, tls }: LoadTarget, { kind, code, message }: NetError): string {
  switch (kind) {
    case 'refused':
      return `nobody listens there (${host} refused port ${port}): start the service, or correct the address`;
    case 'dns':
      return `there is no such name (${host}, ${code}): correct the address`;
    case 'connect-timeout':
      return 'no answer to a connection within 5 s: it is filtered, or the address is wrong';
    case 'unreachable':
      return `there is no way to ${host} (${code})`;
    case 'tls':
      return tlsReason(tls, code, message);
    default:
      return `${message} (${code})`;
  }
}

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

function tlsReason(tls: TlsTarget | undefined, code: string, message: string): string {
  if (untrusted.has(code)) {
    return `nobody that we trust has signed its certificate (${code}): --ca FILE names who has, --insecure takes any`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = /.*altnames: (.*)$/s.exec(message)?.[1];
    const whose = names === undefined ? message : `it is for ${names}`;
    return `its certificate is not for ${tls?.serverName ?? 'this address'} (${whose}): correct the address, or --insecure takes any`;
  }
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired: --insecure takes it all the same';
  if (/wrong version number|packet length too long|bad record type|record layer/i.test(message)) {
    return 'it does not speak TLS there: try http:// instead of https://';
  }
  return `the TLS handshake failed: ${message} (${code})`;
}
