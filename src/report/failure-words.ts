// What each kind of failure means, for whoever meets it in a result and wonders what to do.

const words: Readonly<Record<string, string>> = {
  timeout: 'no whole answer within --timeout, counted from when the request was due',
  refused: 'nobody listens at the address, or its backlog is full',
  reset: 'the peer dropped the connection',
  closed: 'the peer closed the connection before it answered',
  truncated: 'the connection or the stream ended in the middle of an answer',
  'bad-response': 'what came is not the protocol that was asked: is it TLS, or another version of HTTP?',
  'status-4xx': 'the service did not accept the request: path, method, credentials',
  'status-5xx': 'the service or its balancer failed',
  'connect-timeout': 'no answer to the attempt to connect: filtered, or the backlog is full',
  unreachable: 'there is no way to the address',
  dns: 'the name was not found',
  tls: 'the handshake failed: certificate, version, or no HTTP/2 offered',
  'no-ports': 'this machine has no free local port left (net.ipv4.ip_local_port_range, TIME_WAIT)',
  'no-files': 'this process may open no more files (ulimit -n)',
  'no-variable': 'a step names a variable that no answer had given',
  goaway: 'the server took its leave (GOAWAY) and had not looked at the request',
  'stream-refused': 'the server had not looked at the request (REFUSED_STREAM)',
  'stream-reset': 'the server reset the stream',
};

/** Undefined for a kind that is not ours to explain. */
export const failureWords = (kind: string): string | undefined => words[kind];
