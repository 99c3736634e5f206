// What HAProxy says beside its requests: servers that go and come, backends without one, connections it could not make.
//
//   Server be/web1 is DOWN, reason: Layer7 timeout, check duration: 2001ms. 0 active and 0 backup servers left. …
//   Server be/web1 is going DOWN for maintenance (DNS timeout status). 2 active and 0 backup servers left. …
//   backend be has no server available!

export interface HaproxyNotice {
  readonly code: string;
  readonly subject: string | undefined;
  /** What happens to the subject by it, as an event; undefined when it is only said. */
  readonly event: string | undefined;
  /** The reason in its own words. */
  readonly reason: string | undefined;
}

interface Kind {
  readonly pattern: RegExp;
  readonly code: string;
  readonly event?: string;
}

/** First group: what it is about; second: why. The first that fits counts. */
const kinds: readonly Kind[] = [
  // With a reason it is HAProxy that took it out, as when its name cannot be resolved; without one somebody did.
  {
    pattern: /\b(?:Backup )?[Ss]erver (\S+\/\S+) is going DOWN for maintenance \(([^)]*)\)/,
    code: 'server-unresolved',
    event: 'unhealthy',
  },
  {
    pattern: /\b(?:Backup )?[Ss]erver (\S+\/\S+) is going DOWN for maintenance/,
    code: 'server-maintenance',
    event: 'draining',
  },
  {
    pattern: /\b(?:Backup )?[Ss]erver (\S+\/\S+) is (?:going )?DOWN(?:, reason: ([^.]*))?/,
    code: 'server-down',
    event: 'unhealthy',
  },
  {
    pattern:
      /\b(?:Backup )?[Ss]erver (\S+\/\S+) (?:is UP(?:\/READY)?(?: \(leaving (?:forced )?\w+\))?|administratively READY thanks to .*)(?:, reason: ([^.]*))?/,
    code: 'server-up',
    event: 'healthy',
  },
  {
    pattern: /\b[Ss]erver (\S+\/\S+) enters? drain|(\S+\/\S+) is stopping/,
    code: 'server-draining',
    event: 'draining',
  },
  {
    pattern: /\b[Ss]erver (\S+\/\S+) .*changed its (?:FQDN|IP) from (.*)/,
    code: 'server-address-changed',
    event: 'backend-sync',
  },
  { pattern: /\b(\S+\/\S+) changed its IP from (.*)/, code: 'server-address-changed', event: 'backend-sync' },
  {
    pattern: /\b(?:backend|proxy) (\S+) has no server available/,
    code: 'no-live-upstreams',
    event: 'no-server-available',
  },
  { pattern: /\bHealth check for (?:backup )?server (\S+\/\S+) failed(?:, reason: ([^.]*))?/, code: 'check-failed' },
  { pattern: /\bHealth check for (?:backup )?server (\S+\/\S+) succeeded/, code: 'check-succeeded' },
  { pattern: /\bConnect\(\) failed for backend (\S+?): (.*)/, code: 'connect-failed' },
  {
    pattern: /\b[Pp]roxy (\S+) reached (?:the configured maxconn|system memory limit)/,
    code: 'proxy-connections-full',
  },
  {
    pattern: /\b(?:Proxy|backend) (\S+) reached the number of available ports|no free ports/i,
    code: 'address-not-available',
  },
  { pattern: /\bProxy (\S+) (?:started|stopped)/, code: 'proxy-state', event: 'restart' },
  { pattern: /\b(?:Starting|Stopping|Paus\w+) (?:backend|frontend|proxy) (\S+)/, code: 'proxy-state' },
  { pattern: /\b(\S+)\s+SSL handshake failure/, code: 'tls-handshake-failure' },
  { pattern: /\b(\S+) query \S+(?: \S+)? timeout/, code: 'dns-timeout' },
];

/** The notice in this text, whatever stands before it; undefined when it is none. */
export function parseHaproxyNotice(text: string): HaproxyNotice | undefined {
  for (const { pattern, code, event } of kinds) {
    const found = pattern.exec(text);
    if (found === null) continue;
    return { code, subject: found[1] ?? found[2], event, reason: found[2] };
  }
  return undefined;
}
