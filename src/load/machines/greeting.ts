// How an agent and a coordinator make sure of each other. Each sends a number that was never used and proves with it that he
// knows the token, which itself never travels:
//
//   agent        {greeting, protocol, version, nonce}                          ──►
//                                       ◄──  {greeting, protocol, version, nonce, proof}      coordinator
//   agent        {welcome, proof, workers}  or  {refused: why}                 ──►
//
//   proof = HMAC-SHA256(token, whose proof it is, the agent's nonce, the coordinator's nonce)
//
// Protocol and version must be the same on both sides: what they exchange later is counts in the form of this very version. What
// follows is not encrypted: on a network that is not your own, take a tunnel.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { field } from './lines.ts';

export const protocol = 1;

export interface Greeting {
  readonly greeting: 'plimsoll agent' | 'plimsoll coordinator';
  readonly protocol: number;
  readonly version: string;
  readonly nonce: string;
  readonly proof?: string;
}

export const newNonce = (): string => randomBytes(16).toString('hex');

export interface Nonces {
  readonly agent: string;
  readonly coordinator: string;
}

export function proofOf(whose: 'agent' | 'coordinator', token: string, nonces: Nonces): string {
  return createHmac('sha256', token).update(`${whose}\n${nonces.agent}\n${nonces.coordinator}`).digest('hex');
}

export function proves(proof: unknown, whose: 'agent' | 'coordinator', token: string, nonces: Nonces): boolean {
  const expected = Buffer.from(proofOf(whose, token, nonces));
  const given = Buffer.from(typeof proof === 'string' ? proof : '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The other's greeting, or in words why we cannot work together. */
export function greetingOf(
  message: unknown,
  greeting: Greeting['greeting'],
  version: string,
): Greeting | { readonly problem: string } {
  const [nonce, proof, theirs] = [field(message, 'nonce'), field(message, 'proof'), field(message, 'version')];
  if (field(message, 'greeting') !== greeting || typeof nonce !== 'string' || typeof theirs !== 'string') {
    return { problem: `whoever answers there is no ${greeting}` };
  }
  const theirProtocol = Number(field(message, 'protocol'));
  if (theirProtocol !== protocol || theirs !== version) {
    const other = `version ${theirs} (protocol ${theirProtocol})`;
    return { problem: `it is of ${other}, we are of ${version} (protocol ${protocol}): take the same for both` };
  }
  return { greeting, protocol, version, nonce, ...(typeof proof === 'string' ? { proof } : {}) };
}
