// Every way in which a request can leave the gateway. The table is the whole list: `request.ts` takes one of them for each
// request, the access log names it, the metrics count it, and docs/life-of-a-request.md is drawn from it.
//
// How the status was chosen, so that a client can act on it:
//   503  no endpoint took the request. Nothing was carried out: it is safe to send again.
//   502  an endpoint took it and answered wrongly or not at all. It may have been carried out.
//   504  an endpoint took it and time ran out. It may still be being carried out.
// The flags are Envoy's, where it has one for the case, because people know them.

export interface WayOut {
  readonly name: string;
  /** What the client is answered; undefined when nobody is left to read it, or when the answer had begun already. */
  readonly status: number | undefined;
  readonly flag: string;
  /** Whose doing it was. */
  readonly side: 'client' | 'gateway' | 'upstream' | 'nobody';
  /** What Envoy calls it in %RESPONSE_CODE_DETAILS%, or would. */
  readonly details: string;
  /** The body of the answer, for whoever reads it in a terminal. */
  readonly words: string;
}

const detailsOf: Readonly<Record<string, string>> = {
  answered: 'via_upstream',
  tunnelled: 'via_upstream',
  'bad-request': 'http1.codec_error',
  'slow-request': 'request_header_timeout',
  'not-supported': 'upgrade_failed',
  'no-route': 'route_not_found',
  'client-gone': 'downstream_remote_disconnect',
  'slow-client': 'stream_idle_timeout',
  overflow: 'overload',
  'waited-too-long': 'overload',
  'no-healthy-endpoint': 'no_healthy_upstream',
  'connect-failed': 'upstream_reset_before_response_started{connection_failure}',
  'upstream-closed': 'upstream_reset_before_response_started{connection_termination}',
  'bad-answer': 'upstream_reset_before_response_started{protocol_error}',
  'timed-out': 'upstream_response_timeout',
  'cut-off': 'upstream_reset_after_response_started{connection_termination}',
  'cut-off-late': 'response_timeout',
};

const way = (name: string, status: number | undefined, flag: string, side: WayOut['side'], words: string): WayOut => ({
  name,
  status,
  flag,
  side,
  details: detailsOf[name] ?? name,
  words,
});

export const waysOut = {
  /** The endpoint's answer went to the client, whatever its status. */
  answered: way('answered', undefined, '-', 'nobody', ''),
  /** After 101 both sides spoke as they liked, until one of them closed. */
  tunnelled: way('tunnelled', undefined, '-', 'nobody', ''),

  badRequest: way('bad-request', 400, 'DPE', 'client', 'the request could not be read'),
  slowRequest: way('slow-request', 408, 'SI', 'client', 'the request did not arrive in time'),
  notSupported: way('not-supported', 501, 'DPE', 'client', 'this gateway does not do what the request asks'),
  noRoute: way('no-route', 404, 'NR', 'client', 'no service is for this host and path'),
  clientGone: way('client-gone', undefined, 'DC', 'client', 'the client left before the answer'),
  slowClient: way('slow-client', undefined, 'DT', 'client', 'the client did not take the answer in time'),

  overflow: way('overflow', 503, 'UO', 'gateway', 'too many requests at once'),
  waitedTooLong: way('waited-too-long', 503, 'UO', 'gateway', 'waited for its turn for too long'),
  noHealthyEndpoint: way('no-healthy-endpoint', 503, 'UH', 'upstream', 'no endpoint is fit for traffic'),
  connectFailed: way('connect-failed', 503, 'UF', 'upstream', 'no connection to an endpoint'),

  upstreamClosed: way(
    'upstream-closed',
    502,
    'UC',
    'upstream',
    'the endpoint closed the connection before it answered',
  ),
  badAnswer: way('bad-answer', 502, 'UPE', 'upstream', 'the answer of the endpoint could not be read'),
  timedOut: way('timed-out', 504, 'UT', 'upstream', 'no answer in time'),
  /** The answer had begun: all we can do is to break it off, so that the client does not take a part for the whole. */
  cutOff: way('cut-off', undefined, 'UC', 'upstream', 'the answer broke off'),
  cutOffLate: way('cut-off-late', undefined, 'UT', 'upstream', 'the answer was not finished in time'),
} as const;

export type WayOutKey = keyof typeof waysOut;

/** The flags of one request, as Envoy writes them: `UF,URX` when it would have been tried again but for the limits of retries. */
export function flagsOf(taken: WayOut, retryRefused: boolean): string {
  return retryRefused && taken.side === 'upstream' ? `${taken.flag},URX` : taken.flag;
}
