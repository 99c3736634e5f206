// May an attempt that failed be made again, and where? It may when nothing of it can have been carried out, or when carrying it
// out twice is the same as once. Everything else is the client's decision, because only the client knows what it meant.
//
//   what is known                                         then
//   ────────────────────────────────────────────────────  ─────────────────────────────────────────────
//   no connection came about                              elsewhere, any method: nothing was sent
//   a kept connection closed without a byte               reconnect, if idempotent: the idle race of RFC 9112
//                                                         section 9.5; the endpoint has done nothing wrong
//   a fresh connection closed without a byte              elsewhere, if idempotent
//   a byte of an answer came, or it could not be read,    no: the request was carried out, or is being
//   or time ran out
//
// All but the first need what was sent to be still at hand.

export interface FailedAttempt {
  /** How far it came. */
  readonly reached: 'connecting' | 'sent' | 'answer-begun';
  readonly failure: 'connection' | 'protocol' | 'timeout';
  /** The connection had carried a request before this one. */
  readonly reused: boolean;
  readonly idempotent: boolean;
  /** Everything that was sent can be sent again. */
  readonly replayable: boolean;
}

export type Repeat = 'no' | 'reconnect' | 'elsewhere';

export function mayRepeat(attempt: FailedAttempt): Repeat {
  if (attempt.failure !== 'connection' || attempt.reached === 'answer-begun' || !attempt.replayable) return 'no';
  if (attempt.reached === 'connecting') return 'elsewhere';
  if (!attempt.idempotent) return 'no';
  return attempt.reused ? 'reconnect' : 'elsewhere';
}
