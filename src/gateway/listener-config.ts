// What one listener of the gateway is: an address, and what stands between a fresh connection and its first request.

import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { type Duration, ns, seconds } from '../base.ts';
import type { TlsVersion } from '../net.ts';
import type { PreambleVersion } from '../wire.ts';
import { duration, name, whole } from './config-numbers.ts';

export interface ListenerConfig {
  readonly host: string;
  /** 0: the kernel chooses. */
  readonly port: number;
  readonly tls: ListenerTls | undefined;
  /** With TLS: offered in the handshake. Without: whoever begins with the preface of HTTP/2 is spoken to in it. */
  readonly http2: boolean;
  readonly proxyProtocol: ProxyProtocolIn | undefined;
  /** Connections of this listener; undefined: only those of the gateway are bounded. */
  readonly connectionsMax: number | undefined;
}

export interface ListenerTls {
  /** The first is shown to whoever names no host, or one that none of them is for. */
  readonly certificates: readonly CertificateFiles[];
  readonly versionMin: TlsVersion;
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Undefined: those that stand in the certificate. */
  readonly names: readonly string[] | undefined;
}

/** Every connection begins with a preamble, and comes from somebody who may say so. */
export interface ProxyProtocolIn {
  /** Networks such as `10.0.0.0/8`. */
  readonly trusted: readonly string[];
  /** From the connection to the end of the preamble. */
  readonly timeout: Duration;
}

/** How endpoints are spoken to. */
export interface UpstreamConfig {
  readonly tls: UpstreamTls | undefined;
  /** Each connection begins by saying who the client is, and is used for one request only. */
  readonly proxyProtocol: PreambleVersion | undefined;
}

export interface UpstreamTls {
  /** Asked for and verified; undefined: the endpoint's host. */
  readonly serverName: string | undefined;
  /** Undefined: the authorities that Node knows. */
  readonly caFile: string | undefined;
  readonly verify: boolean;
}

/** The networks as one question: `check(address, family)`. */
export function networksOf(trusted: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of trusted) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return list;
}

const file = z.string({ error: 'expected a path' }).min(1, { error: 'expected a path' });

const certificateShape = z.strictObject(
  {
    cert_file: file,
    key_file: file,
    names: z
      .array(
        z
          .string({ error: 'expected a host name' })
          .regex(/^(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/, { error: 'expected a host name, or *. and one' }),
        {
          error: 'expected a list of host names',
        },
      )
      .min(1, { error: 'expected at least one name' })
      .optional(),
  },
  { error: 'expected an object with cert_file and key_file' },
);

const tlsShape = z.strictObject(
  {
    certificates: z
      .array(certificateShape, { error: 'expected a list of certificates' })
      .min(1, { error: 'expected at least one certificate' }),
    min_version: z.enum(['TLSv1.2', 'TLSv1.3'], { error: 'expected TLSv1.2 or TLSv1.3' }).default('TLSv1.2'),
  },
  { error: 'expected an object with certificates; or null' },
);

const network = z.string({ error: 'expected a network' }).refine(isNetwork, {
  error: 'expected an address, or a network such as 10.0.0.0/8',
});

const proxyProtocolShape = z.strictObject(
  {
    trusted: z
      .array(network, { error: 'expected a list of networks' })
      .min(1, { error: 'expected at least one network: who may say where a connection comes from' }),
    timeout_ns: duration(1e6).default(seconds(3)),
  },
  { error: 'expected an object with trusted; or null' },
);

export const listenerShape = z.strictObject(
  {
    host: z.string({ error: 'expected a host name or address' }).min(1, { error: 'expected a host name or address' }),
    port: whole(0, 65_535),
    tls: tlsShape.nullish(),
    http2: z.boolean({ error: 'expected true or false' }).optional(),
    proxy_protocol: proxyProtocolShape.nullish(),
    connections_max: whole(1, 10_000_000).optional(),
  },
  { error: 'expected an object with host and port' },
);

const listenersShape = z
  .array(listenerShape, { error: 'expected a list of listeners' })
  .min(1, { error: 'expected at least one listener' })
  .superRefine((list, context) => {
    const first = new Map<string, number>();
    list.forEach(({ host, port }, index) => {
      if (port === 0) return;
      const before = first.get(`${host} ${port}`);
      if (before === undefined) first.set(`${host} ${port}`, index);
      else context.addIssue({ code: 'custom', path: [index, 'port'], message: `listener ${before} has that address` });
    });
  });

/** One listener or a list of them. Which of the two is meant is seen before it is parsed, so that the mistakes found are those of
 * the form that was chosen. */
export const listen = z.unknown().transform((value, context): readonly ListenerConfig[] => {
  const parsed = Array.isArray(value) ? listenersShape.safeParse(value) : z.tuple([listenerShape]).safeParse([value]);
  if (parsed.success) return parsed.data.map(listenerOf);
  for (const issue of parsed.error.issues) {
    const path = Array.isArray(value) ? issue.path : issue.path.slice(1);
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
    for (const key of unknown) {
      context.issues.push({
        code: 'custom',
        message: issue.message,
        path: key === undefined ? path : [...path, key],
        input: value,
        params: { unknownKey: key !== undefined },
      });
    }
  }
  return z.NEVER;
});

export const upstreamShape = z.strictObject(
  {
    tls: z
      .strictObject(
        {
          server_name: name.optional(),
          ca_file: file.optional(),
          verify: z.boolean({ error: 'expected true or false' }).default(true),
        },
        { error: 'expected an object; {} for the defaults, or null' },
      )
      .nullish(),
    proxy_protocol: z.enum(['v1', 'v2'], { error: 'expected v1, v2 or null' }).nullish(),
  },
  { error: 'expected an object with tls or proxy_protocol' },
);

export function upstreamOf(raw: z.infer<typeof upstreamShape> | undefined): UpstreamConfig {
  const secure = raw?.tls ?? undefined;
  return {
    tls:
      secure === undefined
        ? undefined
        : { serverName: secure.server_name, caFile: secure.ca_file, verify: secure.verify },
    proxyProtocol: raw?.proxy_protocol ?? undefined,
  };
}

/** Which keys stand where below `listen` and `upstream`, for the message about an unknown one. */
export const listenerShapes = [
  { at: /^listen(\.\d+)?$/, shape: listenerShape },
  { at: /^listen(\.\d+)?\.tls$/, shape: tlsShape },
  { at: /^listen(\.\d+)?\.tls\.certificates\.\d+$/, shape: certificateShape },
  { at: /^listen(\.\d+)?\.proxy_protocol$/, shape: proxyProtocolShape },
  { at: /^upstream$/, shape: upstreamShape },
];

function listenerOf(raw: z.infer<typeof listenerShape>): ListenerConfig {
  const secure = raw.tls ?? undefined;
  const preamble = raw.proxy_protocol ?? undefined;
  return {
    host: raw.host,
    port: raw.port,
    tls:
      secure === undefined
        ? undefined
        : {
            versionMin: secure.min_version,
            certificates: secure.certificates.map((certificate) => ({
              certFile: certificate.cert_file,
              keyFile: certificate.key_file,
              names: certificate.names,
            })),
          },
    http2: raw.http2 ?? secure !== undefined,
    proxyProtocol: preamble === undefined ? undefined : { trusted: preamble.trusted, timeout: ns(preamble.timeout_ns) },
    connectionsMax: raw.connections_max,
  };
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
}
