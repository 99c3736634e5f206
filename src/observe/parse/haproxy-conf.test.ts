import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dossierOf, expected, settingLines } from '../testing/facts.ts';
import { samples } from '../testing/samples.ts';

test('what a section says, what its defaults say, and what binds because nobody said anything', () => {
  assert.deepEqual(
    settingLines(dossierOf(samples['HAProxy configuration'] ?? '')),
    expected(`
      [global] downstream.max-connections = 4000 :2
      [frontend web] balance.layer = http :4
      [frontend web] downstream.idle-timeout = 30 :6
      [frontend web] downstream.keepalive-timeout = 30 (implied)
      [frontend web] downstream.max-connections = 4000 (implied)
      [frontend web] route.target = shop :11
      [backend shop] balance.layer = http :4
      [backend shop] balance.policy = least-request :13
      [backend shop] upstream.connect-timeout = 5 :5
      [backend shop] upstream.read-timeout = 10 :7
      [backend shop] queue.timeout = 0.5 :15
      [backend shop] route.retries = 2 :8
      [backend shop] route.retry-on = conn-failure (implied)
      [backend shop] retry.redispatch = false (implied)
      [backend shop] upstream.reuse = safe (implied)
      [backend shop] upstream.idle-timeout = 5 (implied)
      [backend shop] upstream.endpoints = 2 :16
      [backend shop] upstream.endpoint-list = s1,s2 :16
      [backend shop] upstream.address-kind = static :16
      [backend shop] upstream.endpoint-max-requests = 50 :16
      [backend shop] health.kind = http :16
      [backend shop] health.path = /healthz :16
      [backend shop] health.interval = 1 :16
      [backend shop] health.fall = 2 :16
      [backend shop] health.rise = 2 (implied)
      [backend shop] health.timeout = 1 (implied)
    `),
  );
});

/** The lines of the settings of one scope. */
function scoped(text: string, scope: string): string[] {
  return settingLines(dossierOf(text)).filter((line) => line.startsWith(`[${scope}] `));
}

test('a listen section is both; an unset timeout never ends; mode is tcp unless said', () => {
  const lines = settingLines(dossierOf('listen kv\n    bind :1\n    server a 10.0.0.1:1\n'));
  assert.ok(lines.includes('[frontend kv] balance.layer = tcp (implied)'));
  assert.ok(lines.includes('[frontend kv] downstream.idle-timeout = Infinity (implied)'));
  assert.ok(lines.includes('[backend kv] upstream.read-timeout = Infinity (implied)'));
  assert.ok(lines.includes('[backend kv] route.retries = 3 (implied)'));
  assert.ok(lines.includes('[backend kv] balance.policy = round-robin (implied)'));
  assert.ok(lines.includes('[backend kv] health.kind = none (implied)'));
});

test('servers that differ are told apart, templates are counted, names are resolved by DNS', () => {
  const text = `backend a
    server one 10.0.0.1:80 check inter 5s
    server two 10.0.0.2:80 backup disabled
backend b
    no option redispatch
    server-template web 3 _http._tcp.app.example resolvers dns check
resolvers dns
    hold valid 1m
    resolve_retries 5
`;
  assert.ok(scoped(text, 'server a/one').includes('[server a/one] health.interval = 5 :2'));
  assert.deepEqual(scoped(text, 'server a/two'), ['[server a/two] health.kind = none (implied)']);
  assert.ok(scoped(text, 'backend a').includes('[backend a] upstream.down-servers = 1 :3'));
  assert.ok(scoped(text, 'backend a').includes('[backend a] upstream.backup-servers = 1 :3'));
  assert.ok(scoped(text, 'backend b').includes('[backend b] upstream.endpoint-list = web1,web2,web3 :6'));
  assert.ok(scoped(text, 'backend b').includes('[backend b] upstream.address-kind = dns :6'));
  assert.deepEqual(
    scoped(text, 'resolvers dns'),
    expected(`
      [resolvers dns] dns.hold = 60 :8
      [resolvers dns] dns.hold-errors = 30 (implied)
      [resolvers dns] dns.timeout = 1 (implied)
      [resolvers dns] dns.interval = 1 (implied)
      [resolvers dns] dns.attempts = 5 :9
    `),
  );
});

test('the last defaults before a section hold for it, and an option can be taken back', () => {
  const text = `defaults
    timeout server 10s
    option redispatch
backend a
    server s 10.0.0.1:80
defaults
    timeout server 20s
    option redispatch
backend b
    no option redispatch
    server s 10.0.0.1:80
`;
  assert.ok(scoped(text, 'backend a').includes('[backend a] upstream.read-timeout = 10 :2'));
  assert.ok(scoped(text, 'backend a').includes('[backend a] retry.redispatch = true :3'));
  assert.ok(scoped(text, 'backend b').includes('[backend b] upstream.read-timeout = 20 :7'));
  assert.ok(scoped(text, 'backend b').includes('[backend b] retry.redispatch = false (implied)'));
});
