// One line for each request, in the order in which they ended: a JSON object, or Envoy's default form. Lines are put together in memory and written every
// `flushInterval` or when a block is full; a disk that cannot keep up costs lines, never requests: beyond `pendingMax` bytes
// lines are dropped and counted.

import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import type { Instant } from '../base.ts';
import type { AccessLogConfig } from './observe-config.ts';
import type { Exchange } from './request.ts';
import { flagsOf, type WayOut } from './ways-out.ts';

const flushIntervalMs = 100;
const blockBytes = 64 * 1024;
const pendingMax = 16 * 1024 * 1024;

export class AccessLog {
  dropped = 0;
  readonly format: AccessLogConfig['format'];
  readonly #stream: WriteStream;
  /** Wall clock at instant 0 of the engine, in ms. */
  readonly #wallStart: number;
  #block = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(config: AccessLogConfig, now: Instant) {
    this.format = config.format;
    this.#stream = createWriteStream(config.path, { flags: 'a' });
    this.#wallStart = Date.now() - now / 1e6;
  }

  /** Resolves when the file is open; rejects when it cannot be. */
  async opened(): Promise<void> {
    await once(this.#stream, 'open');
    // A full disk later: nothing to be done here but to go on serving.
    this.#stream.on('error', () => {
      this.dropped += 1;
    });
  }

  write(exchange: Exchange, way: WayOut, now: Instant): void {
    if (this.#stream.writableLength > pendingMax) {
      this.dropped += 1;
      return;
    }
    const time = new Date(this.#wallStart + exchange.startedAt / 1e6).toISOString();
    this.#block += `${this.format === 'json' ? jsonLine(exchange, way, time, now) : envoyLine(exchange, way, time, now)}\n`;
    if (this.#block.length >= blockBytes) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), flushIntervalMs).unref();
  }

  async close(): Promise<void> {
    this.#flush();
    await new Promise<void>((resolve) => this.#stream.end(resolve));
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#block === '') return;
    this.#stream.write(this.#block);
    this.#block = '';
  }
}

function jsonLine(exchange: Exchange, way: WayOut, time: string, now: Instant): string {
  return JSON.stringify({
    start_time: time,
    request_id: exchange.identity?.requestId,
    trace_id: exchange.identity?.traceId === '' ? undefined : exchange.identity?.traceId,
    method: exchange.method,
    path: exchange.path,
    authority: exchange.authority ?? null,
    client: exchange.client.address,
    status: exchange.status,
    way: way.name,
    response_flags: flagsOf(way, exchange.retryRefused),
    response_code_details: way.details,
    endpoint: exchange.endpoint?.endpoint.id ?? null,
    attempts: exchange.attempts,
    request_bytes: exchange.requestBytes,
    answer_bytes: exchange.answerBytes,
    first_byte_ns: exchange.firstByteAfter ?? null,
    upstream_duration_ns: exchange.answerLatency ?? null,
    duration_ns: now - exchange.startedAt,
  });
}

/** `[START_TIME] "METHOD PATH PROTOCOL" CODE FLAGS RECEIVED SENT DURATION UPSTREAM_SERVICE_TIME "XFF" "USER-AGENT" "REQUEST-ID"
 * "AUTHORITY" "UPSTREAM_HOST"`, times in ms, what is not there a dash. */
function envoyLine(exchange: Exchange, way: WayOut, time: string, now: Instant): string {
  const { method, path, client, forwardedFor, answerLatency } = exchange;
  const endpoint = exchange.endpoint?.endpoint;
  const said = forwardedFor === undefined ? client.address : `${forwardedFor}, ${client.address}`;
  const service = answerLatency === undefined ? '-' : Math.round(answerLatency / 1e6);
  return (
    `[${time}] "${text(method)} ${text(path)} ${client.isStream ? 'HTTP/2' : 'HTTP/1.1'}" ${exchange.status} ${flagsOf(way, exchange.retryRefused)} ` +
    `${exchange.requestBytes} ${exchange.answerBytes} ${Math.round((now - exchange.startedAt) / 1e6)} ${service} ` +
    `"${text(said)}" "${text(exchange.userAgent)}" "${text(exchange.identity?.requestId)}" "${text(exchange.authority)}" ` +
    `"${endpoint === undefined ? '-' : `${endpoint.host}:${endpoint.port}`}"`
  );
}

/** A quotation mark in a field of a stranger must not end the field in the log: as nginx writes it. */
function text(value: string | undefined): string {
  return value === undefined || value === '' ? '-' : value.replaceAll('"', '\\x22');
}
