// What programs of any kind say when something goes wrong, by a short stable code. The words are those of libraries and
// kernels (Go, Node, Java, Python, PostgreSQL), which are the same in thousands of programs; the first that fits counts.

const codes: readonly (readonly [RegExp, string])[] = [
  [/nf_conntrack: .*table full/i, 'conntrack-full'],
  [/cannot assign requested address|EADDRNOTAVAIL|no free ports/i, 'address-not-available'],
  [/address already in use|EADDRINUSE/i, 'address-in-use'],
  [/too many open files|EMFILE/i, 'too-many-open-files'],
  [/possible SYN flooding/i, 'syn-flood'],
  [
    /Timeout failure stats|Connection is not available, request timed out|(?:acquire|acquiring|obtain|checkout|waiting for|get).{0,40}connection.{0,60}(?:time|timed)[ -]?out|(?:time|timed)[ -]?out.{0,40}(?:acquir|pool|checkout|waiting for (?:a )?connection)|QueuePool limit|pool (?:is )?exhausted|ConnectionPoolTimeout|max pool size was reached|prior to obtaining a connection from the pool/i,
    'pool-timeout',
  ],
  [/too many (?:clients|connections)|remaining connection slots/i, 'too-many-connections'],
  [
    /no healthy upstream|no live upstreams|no server (?:is )?available|no available (?:server|upstream|endpoint)|no endpoints available/i,
    'no-live-upstreams',
  ],
  [/circuit ?breaker.{0,30}open|upstream_(?:rq_)?(?:pending_)?overflow/i, 'breaker-open'],
  [
    /(?:no such host|ENOTFOUND|NXDOMAIN|name or service not known|temporary failure in name resolution|could not resolve|SERVFAIL|EAI_AGAIN|server misbehaving)/i,
    'dns-failure',
  ],
  [/lookup .*(?:i\/o timeout|timed? ?out)|(?:dns|resolver|query).{0,60}time(?:d )?out/i, 'dns-timeout'],
  [/connection refused|ECONNREFUSED/i, 'refused'],
  [/(?:connect|dial).{0,60}(?:timed? ?out|ETIMEDOUT)|ETIMEDOUT|ConnectTimeout/i, 'connect-timeout'],
  [
    /context deadline exceeded|deadline exceeded|DEADLINE_EXCEEDED|Client\.Timeout exceeded|ReadTimeout|SocketTimeout|request timed? ?out|response timeout|ESOCKETTIMEDOUT|upstream request timeout/i,
    'timeout',
  ],
  [
    /connection reset|ECONNRESET|broken pipe|EPIPE|socket hang up|upstream connect error or disconnect|unexpected EOF|server closed (?:idle )?connection|premature close|Remote end closed/i,
    'reset',
  ],
  [
    /context canceled|client disconnected|client (?:has )?(?:closed|gone|aborted)|ClientDisconnect|CANCELLED/i,
    'client-left',
  ],
  [/out of memory|OOMKilled|oom-kill|OutOfMemoryError|heap out of memory/i, 'out-of-memory'],
  [/disk (?:is )?full|no space left on device|ENOSPC|volume .{0,40}100 ?%/i, 'disk-full'],
  [/rate limit|too many requests|RESOURCE_EXHAUSTED|throttl/i, 'rate-limited'],
  [/queue (?:is )?full|RejectedExecution|backlog full/i, 'queue-full'],
  [/tls handshake|ssl handshake|certificate (?:has expired|verify failed)/i, 'tls-handshake-failure'],
  [/pause young|pause full|Full GC|stop-the-world|gc pause/i, 'garbage-collection'],
  [/deadlock/i, 'deadlock'],
  [/panic:|Traceback|unhandled (?:exception|rejection)|SIGSEGV|segfault/i, 'crash'],
];

/** The code of a message; undefined when it is none of the known ones. */
export function messageCode(text: string): string | undefined {
  return codes.find(([pattern]) => pattern.test(text))?.[1];
}
