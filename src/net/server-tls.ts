// What a TLS listener shows to whoever comes: certificates by the name that is asked for, the protocols to speak inside, and the
// least version. A listener asks it anew at each handshake, so `replace` changes what the next client sees and touches
// nobody who is connected already.
//
//   asked for        exact name ─► wildcard of one label ─► the first certificate
//   a.example.com    a.example.com   *.example.com            whoever names nobody gets that one too
//
// A pair that does not fit together is refused before anything is changed: half of a new certificate is worse than an old one.
//
// Tickets of sessions are sealed with `ticketKeys`, which survive a replacement; processes that share a port share them too, or
// a client that comes back to another process would begin anew.

import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import tls, { type SecureContext } from 'node:tls';
import { assert } from '../base.ts';

export interface ServerTlsSettings {
  /** At least one; the first is shown to whoever asks for a name that none of them is for. */
  readonly certificates: readonly ServerCertificate[];
  /** In order of preference; a client that knows none of them is refused. Undefined: not negotiated. */
  readonly alpn?: readonly string[];
  /** Default `TLSv1.2`. */
  readonly versionMin?: TlsVersion;
  /** 48 secret bytes; by default random ones. */
  readonly ticketKeys?: Uint8Array;
  /** How long a handshake may take, in milliseconds. Default 10 s. */
  readonly handshakeTimeoutMs?: number;
  /** Connections, handshakes included; a further one is closed at once. Default: no bound. */
  readonly connectionsMax?: number;
}

export type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

export interface ServerCertificate {
  /** PEM; the certificate first, then those between it and its root. */
  readonly cert: string;
  readonly key: string;
  /** Names it is shown for, `*.` for a wildcard; by default those that stand in it. */
  readonly names?: readonly string[];
}

/** What is wrong with one certificate of a list. */
export interface CertificateProblem {
  readonly index: number;
  readonly part: 'cert' | 'key';
  readonly message: string;
}

export const ticketKeyBytes = 48;

export class ServerTls {
  readonly handshakeTimeoutMs: number;
  readonly connectionsMax: number | undefined;
  readonly ticketKeys: Buffer;
  #shown: Shown;
  readonly #watchers = new Set<() => void>();

  /** The object, or every problem of every certificate. */
  static of(settings: ServerTlsSettings): ServerTls | { readonly problems: readonly CertificateProblem[] } {
    const problems = certificateProblems(settings.certificates);
    return problems.length > 0 ? { problems } : new ServerTls(settings);
  }

  /** For settings that are known to be good: asserts it. */
  constructor(settings: ServerTlsSettings) {
    this.ticketKeys = Buffer.from(settings.ticketKeys ?? randomBytes(ticketKeyBytes));
    assert(this.ticketKeys.length === ticketKeyBytes, 'the keys of tickets are 48 bytes');
    this.handshakeTimeoutMs = settings.handshakeTimeoutMs ?? 10_000;
    this.connectionsMax = settings.connectionsMax;
    this.#shown = shownOf(settings, this.ticketKeys);
  }

  /** Other certificates, protocols and versions from the next handshake on; or the problems, and nothing has changed. */
  replace(settings: ServerTlsSettings): readonly CertificateProblem[] {
    const problems = certificateProblems(settings.certificates);
    if (problems.length > 0) return problems;
    this.#shown = shownOf(settings, this.ticketKeys);
    for (const changed of this.#watchers) changed();
    return [];
  }

  /** What is shown at present: another object after each replacement. */
  get shown(): Shown {
    return this.#shown;
  }

  contextFor(serverName: string): SecureContext {
    return this.#shown.contexts[indexFor(this.#shown, serverName)] ?? this.firstContext;
  }

  /** For whoever names no host. */
  get firstContext(): SecureContext {
    const [first] = this.#shown.contexts;
    assert(first !== undefined, 'a listener has a certificate');
    return first;
  }

  /** What `tls.createServer` and `setSecureContext` want to know of the first certificate. */
  get firstOptions(): tls.SecureContextOptions {
    return this.#shown.firstOptions;
  }

  get alpn(): readonly string[] | undefined {
    return this.#shown.alpn;
  }

  /** Calls back after each replacement, until what is returned is called. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }
}

export interface Shown {
  readonly certificates: readonly ServerCertificate[];
  /** Of each certificate, for Node. */
  readonly contexts: readonly SecureContext[];
  readonly firstOptions: tls.SecureContextOptions;
  readonly alpn: readonly string[] | undefined;
  readonly versionMin: TlsVersion;
  /** Which certificate is for a name. */
  readonly exact: ReadonlyMap<string, number>;
  /** By what follows `*.`. */
  readonly wildcards: ReadonlyMap<string, number>;
}

/** Which certificate whoever asks for this name is shown. */
export function indexFor({ exact, wildcards }: Shown, serverName: string): number {
  const name = serverName.toLowerCase();
  const dot = name.indexOf('.');
  return exact.get(name) ?? (dot > 0 ? wildcards.get(name.slice(dot + 1)) : undefined) ?? 0;
}

function shownOf(settings: ServerTlsSettings, ticketKeys: Buffer): Shown {
  const { certificates, alpn, versionMin = 'TLSv1.2' } = settings;
  const exact = new Map<string, number>();
  const wildcards = new Map<string, number>();
  const options = certificates.map(({ cert, key }) => ({
    cert,
    key,
    minVersion: versionMin,
    sessionIdContext: 'plimsoll',
    ticketKeys,
  }));
  certificates.forEach(({ cert, names }, index) => {
    for (const name of names ?? namesOf(cert)) {
      const [map, key] = name.startsWith('*.') ? [wildcards, name.slice(2)] : [exact, name];
      // The first that is for a name has it.
      if (!map.has(key.toLowerCase())) map.set(key.toLowerCase(), index);
    }
  });
  const [firstOptions] = options;
  assert(firstOptions !== undefined, 'a listener has a certificate');
  const contexts = options.map((each) => tls.createSecureContext(each));
  return { certificates, contexts, firstOptions, alpn, versionMin, exact, wildcards };
}

/** Everything that keeps certificates from being shown. */
export function certificateProblems(certificates: readonly ServerCertificate[]): readonly CertificateProblem[] {
  return certificates.flatMap((certificate, index) => problemsOf(certificate, index));
}

function problemsOf({ cert, key }: ServerCertificate, index: number): readonly CertificateProblem[] {
  const problems: CertificateProblem[] = [];
  const parsed = attempt(() => new X509Certificate(cert));
  if (typeof parsed === 'string')
    problems.push({ index, part: 'cert', message: `not a certificate in PEM: ${parsed}` });
  const privateKey = attempt(() => createPrivateKey(key));
  if (typeof privateKey === 'string') problems.push({ index, part: 'key', message: `not a key in PEM: ${privateKey}` });
  if (typeof parsed === 'string' || typeof privateKey === 'string') return problems;
  if (!parsed.checkPrivateKey(privateKey)) {
    problems.push({ index, part: 'key', message: 'not the key of this certificate' });
  }
  const usable = attempt(() => tls.createSecureContext({ cert, key }));
  if (problems.length === 0 && typeof usable === 'string') problems.push({ index, part: 'cert', message: usable });
  return problems;
}

/** The names a certificate is for: its alternative names, or, where it has none, its common name. */
function namesOf(cert: string): readonly string[] {
  const parsed = new X509Certificate(cert);
  const names = (parsed.subjectAltName ?? '')
    .split(', ')
    .filter((entry) => entry.startsWith('DNS:'))
    .map((entry) => entry.slice(4));
  if (names.length > 0) return names;
  const common = /^CN=(.+)$/m.exec(parsed.subject)?.[1];
  return common === undefined ? [] : [common];
}

function attempt<Value extends object>(make: () => Value): Value | string {
  try {
    return make();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
