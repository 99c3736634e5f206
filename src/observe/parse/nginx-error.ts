// nginx's error log. What went wrong is in the message, how far the request had come in its `while …`, who it was about in the
// fields after it:
//
//   2026/03/03 12:00:05 [error] 31#31: *920 recv() failed (104: Connection reset by peer) while reading response header from
//   upstream, client: 198.51.100.8, server: a.example, request: "GET /m HTTP/1.1", upstream: "http://172.17.0.2:9000/m", …
//
// The phase tells causes apart: a timeout while connecting is a full backlog or a dead host, one while reading the response
// header is a slow service.

import { type LineFormat, type LineReader, shareOfLines } from './format.ts';
import { leadingInstant } from './instants.ts';
import type { Sink } from './sink.ts';

const program = 'nginx';
const line = /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d \[(\w+)\] (\d+)#\d+: (?:\*\d+ )?(.*)$/;

const codes: readonly (readonly [RegExp, string])[] = [
  [/upstream timed out.* while connecting to upstream/, 'upstream-connect-timeout'],
  [/upstream timed out/, 'upstream-timeout'],
  [/connect\(\).* failed \(111:/, 'upstream-refused'],
  [/connect\(\).* failed \(110:/, 'upstream-connect-timeout'],
  [/(?:connect|bind)\(\).* failed \(99:/, 'address-not-available'],
  [/connect\(\).* failed \(11:/, 'upstream-backlog-full'],
  [/connect\(\).* failed/, 'upstream-unreachable'],
  [/bind\(\).* failed \(98:/, 'address-in-use'],
  [/upstream prematurely closed connection/, 'upstream-closed-early'],
  [/(?:recv|send|readv|writev|sendfile|SSL_\w+)\(\).* failed \((?:104|32|54):.*upstream/, 'upstream-reset'],
  [/no live upstreams/, 'no-live-upstreams'],
  [/upstream server temporarily disabled/, 'server-disabled'],
  [/upstream sent (?:too big|invalid|no valid|unexpected)/, 'upstream-invalid'],
  [/worker_connections are not enough/, 'worker-connections-full'],
  [/\(24: Too many open files\)/, 'too-many-open-files'],
  [/limiting requests/, 'rate-limited'],
  [/limiting connections/, 'connections-limited'],
  [/could not be resolved \(110:|could not be resolved \(\d+: .*timed out|name server .* timed out/, 'dns-timeout'],
  [/could not be resolved|host not found/, 'dns-failure'],
  [/client (?:prematurely )?closed (?:keepalive )?connection|client timed out/, 'client-left'],
  [/SSL_do_handshake\(\)|peer closed connection in SSL handshake/, 'tls-handshake-failure'],
  [/shared memory|no memory|could not allocate/, 'out-of-memory'],
  [/worker process \d+ exited on signal/, 'process-crashed'],
  [/reconfiguring|signal 1 \(SIGHUP\)/, 'reload'],
];

export const nginxError: LineFormat = {
  kind: 'lines',
  name: 'nginx error log',
  recognise: (head) => shareOfLines(head, (text) => line.test(text)),
  open: nginxErrorReader,
};

function nginxErrorReader(sink: Sink): LineReader {
  return {
    line(text, number) {
      const found = line.exec(text);
      if (found === null) return false;
      const message = found[3] ?? '';
      const atMs = leadingInstant(text)?.ms;
      const code = codes.find(([pattern]) => pattern.test(message))?.[1] ?? `nginx-${found[1] ?? 'message'}`;
      const about = subjectOf(message);
      const subject = about === undefined ? {} : { subject: about };
      sink.message({ program, atMs, code, ...subject, text: message, line: number });
      if (code === 'server-disabled') sink.event({ atMs, event: 'unhealthy', ...subject, detail: code, line: number });
      if (code === 'reload') sink.event({ atMs, event: 'backend-sync', detail: 'nginx reload', line: number });
      if (code === 'process-crashed') sink.event({ atMs, event: 'restart', detail: message, line: number });
      return true;
    },
  };
}

/** The upstream's address without scheme and path; else the server block. */
function subjectOf(message: string): string | undefined {
  const upstream = /, upstream: "(?:[a-z]+:\/\/)?([^/"]+)/.exec(message)?.[1];
  return upstream ?? /, server: ([^,]+)/.exec(message)?.[1];
}
