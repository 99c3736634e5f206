// The deadline on the wire: what the caller says is left, and what the endpoint is told is left.
//
// The request is written once and may be sent several times, with waiting in between, so the numbers in it are of a fixed width
// and are stamped anew before each sending:
//
//   x-plimsoll-remaining-ms: 0000014870                ten digits, always written
//   x-envoy-expected-rq-timeout-ms: 0000014870         where the caller had one
//   grpc-timeout: 00014870m                            where the caller had one
//
// Hot where deadlines are forwarded.

import { type Duration, inMs } from '../base.ts';
import {
  envoyRemainingHeader,
  grpcTimeoutHeader,
  parseGrpcTimeout,
  parseRemainingMs,
  remainingHeader,
} from '../policy.ts';
import type { RequestHead } from '../wire.ts';
import type { GrowingBytes } from './growing-bytes.ts';

/** The fields that are rewritten here instead of being passed on. */
export const timeLeftFields: readonly string[] = [remainingHeader, envoyRemainingHeader, grpcTimeoutHeader];

/** The shortest time that the caller gives in any of its ways; undefined when it says nothing that can be read. */
export function timeGiven(head: RequestHead): Duration | undefined {
  let given: Duration | undefined;
  for (const name of [remainingHeader, envoyRemainingHeader]) {
    if (!head.has(name)) continue;
    const time = parseRemainingMs(head.header(name) ?? '');
    if (time !== undefined && (given === undefined || time < given)) given = time;
  }
  if (head.has(grpcTimeoutHeader)) {
    const time = parseGrpcTimeout(head.header(grpcTimeoutHeader) ?? '');
    if (time !== undefined && (given === undefined || time < given)) given = time;
  }
  return given;
}

const digits = 10;
const grpcDigits = 8;

/** Where the numbers of one request stand. */
export class TimeLeftLines {
  #remainingAt = -1;
  #envoyAt = -1;
  #grpcAt = -1;

  /** Writes the lines with room for the numbers. */
  write(out: GrowingBytes, head: RequestHead): void {
    this.#remainingAt = line(out, remainingHeader, digits, '');
    this.#envoyAt = head.has(envoyRemainingHeader) ? line(out, envoyRemainingHeader, digits, '') : -1;
    this.#grpcAt = head.has(grpcTimeoutHeader) ? line(out, grpcTimeoutHeader, grpcDigits, 'm') : -1;
  }

  /** Puts the time that is left into a request that was written to `array`. */
  stamp(array: Uint8Array, left: Duration): void {
    const whole = Math.floor(inMs(left));
    stampNumber(array, this.#remainingAt, digits, whole);
    if (this.#envoyAt >= 0) stampNumber(array, this.#envoyAt, digits, whole);
    if (this.#grpcAt >= 0) stampNumber(array, this.#grpcAt, grpcDigits, Math.min(whole, 99_999_999));
  }
}

/** Returns where the number begins. */
function line(out: GrowingBytes, name: string, width: number, unit: string): number {
  out.text(`${name}: `);
  const at = out.length;
  out.text(`${'0'.repeat(width)}${unit}\r\n`);
  return at;
}

function stampNumber(array: Uint8Array, at: number, width: number, value: number): void {
  let rest = value;
  for (let place = at + width - 1; place >= at; place--) {
    array[place] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}
