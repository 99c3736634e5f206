// The files that a configuration names, read: certificates and keys of the listeners, the authority of the endpoints. Read as a
// whole, so that a reload takes all of them or none.

import { readFile } from 'node:fs/promises';
import { certificateProblems, type ServerCertificate, type ServerTlsSettings, type TlsTarget } from '../net.ts';
import type { GatewayConfig } from './config.ts';
import type { CertificateFiles, ListenerConfig } from './listener-config.ts';

export interface ConfigFiles {
  /** One for each listener; undefined for those without TLS. */
  readonly listeners: readonly (ServerTlsSettings | undefined)[];
  readonly upstream: TlsTarget | undefined;
}

/** A mistake in what a configuration names. */
export interface FileProblem {
  /** `listen.tls.certificates.0.key_file` */
  readonly path: string;
  readonly message: string;
}

/** The configuration is good, but what it names is not. */
export class FilesRefused extends Error {
  readonly problems: readonly FileProblem[];

  constructor(problems: readonly FileProblem[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

/** Rejects with `FilesRefused`, which names every problem. */
export async function readConfigFiles(config: GatewayConfig): Promise<ConfigFiles> {
  const problems: FileProblem[] = [];
  const listeners: (ServerTlsSettings | undefined)[] = [];
  for (const [index, listener] of config.listen.entries()) {
    const at = config.listen.length === 1 ? 'listen' : `listen.${index}`;
    listeners.push(await listenerTls(listener, config, `${at}.tls.certificates`, problems));
  }
  const upstream = await upstreamTls(config, problems);
  if (problems.length > 0) throw new FilesRefused(problems);
  return { listeners, upstream };
}

/** Every file that may change while the gateway runs. */
export function watchedFiles(config: GatewayConfig): readonly string[] {
  const pairs = config.listen.flatMap((listener) => listener.tls?.certificates ?? []);
  return [...new Set(pairs.flatMap(({ certFile, keyFile }) => [certFile, keyFile]))];
}

async function listenerTls(
  listener: ListenerConfig,
  config: GatewayConfig,
  at: string,
  problems: FileProblem[],
): Promise<ServerTlsSettings | undefined> {
  if (listener.tls === undefined) return undefined;
  const certificates: ServerCertificate[] = [];
  for (const [index, files] of listener.tls.certificates.entries()) {
    const pair = await readPair(files, `${at}.${index}`, problems);
    if (pair === undefined) continue;
    certificates.push(pair);
    for (const { part, message } of certificateProblems([pair])) {
      const path = part === 'cert' ? files.certFile : files.keyFile;
      problems.push({ path: `${at}.${index}.${part}_file`, message: `${path}: ${message}` });
    }
  }
  return {
    certificates,
    versionMin: listener.tls.versionMin,
    alpn: listener.http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
    handshakeTimeoutMs: config.limits.headTimeout / 1e6,
    connectionsMax: listener.connectionsMax ?? config.limits.connectionsMax,
  };
}

async function readPair(
  files: CertificateFiles,
  at: string,
  problems: FileProblem[],
): Promise<ServerCertificate | undefined> {
  const cert = await read(files.certFile, `${at}.cert_file`, problems);
  const key = await read(files.keyFile, `${at}.key_file`, problems);
  if (cert === undefined || key === undefined) return undefined;
  return { cert, key, ...(files.names === undefined ? {} : { names: files.names }) };
}

async function upstreamTls(config: GatewayConfig, problems: FileProblem[]): Promise<TlsTarget | undefined> {
  const { tls } = config.upstream;
  if (tls === undefined) return undefined;
  const ca = tls.caFile === undefined ? undefined : await read(tls.caFile, 'upstream.tls.ca_file', problems);
  return {
    ...(tls.serverName === undefined ? {} : { serverName: tls.serverName }),
    ...(ca === undefined ? {} : { ca }),
    insecure: !tls.verify,
  };
}

async function read(path: string, at: string, problems: FileProblem[]): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    problems.push({ path: at, message: error instanceof Error ? error.message : `${path}: cannot be read` });
    return undefined;
  }
}
