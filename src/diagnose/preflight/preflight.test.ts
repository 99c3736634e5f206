import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { settings } from '../dossier/testing/facts.ts';
import { emptyDossier } from '../../record.ts';
import { preflight, type PreflightFacts } from './preflight.ts';
import { type RuleName, ruleNames } from './rule.ts';
import { preflightRules } from './rules.ts';

/** What is found in these settings, one line a finding: `severity rule file`. Files are told in the order of their first setting. */
function found(script: string, facts: PreflightFacts = {}): string[] {
  const { findings } = resultOf(script, facts);
  return findings.map(({ severity, rule, where }) => `${severity} ${rule} ${where.file}`);
}

function resultOf(script: string, facts: PreflightFacts): ReturnType<typeof preflight> {
  // An equals sign in a value would end it.
  const all = settings(script).map((one) => (one.key === 'replicas.zone-layout' ? { ...one, value: 'a=8,b=2' } : one));
  const sources = [...new Set(all.map(({ origin }) => origin.file))].map((file) => ({
    file,
    format: 'test',
    lines: 1,
    understood: 1,
    foreign: [],
  }));
  return preflight({ ...emptyDossier, settings: all, sources }, facts);
}

interface Case {
  readonly rule: RuleName;
  /** Settings with the fault, and the same without it. */
  readonly bad: string;
  readonly good: string;
  readonly says: RegExp;
  readonly facts?: PreflightFacts;
}

const cases: readonly Case[] = [
  {
    rule: 'timeout-order',
    bad: `haproxy | backend app | upstream.read-timeout = 30 | edge.cfg
          nginx | location / | upstream.read-timeout = 60 | nginx.conf`,
    good: `haproxy | backend app | upstream.read-timeout = 30 | edge.cfg
           nginx | location / | upstream.read-timeout = 29.9 | nginx.conf`,
    says: /60 s .*timeout server 30 s in front of it/,
  },
  {
    rule: 'tries-fit-deadline',
    bad: `envoy | route / | route.timeout = 4 | e
          envoy | route / | route.per-try-timeout = 3 | e
          envoy | route / | route.retries = 3 | e`,
    good: `envoy | route / | route.timeout = 12 | e
           envoy | route / | route.per-try-timeout = 3 | e
           envoy | route / | route.retries = 3 | e`,
    says: /4 tries of 3 s need 12 s, .* leaves room for 1/,
  },
  {
    rule: 'retry-product',
    bad: `app | client | downstream.request-timeout = 30 | client.yaml
          app | client | route.retries = 2 | client.yaml
          envoy | route / | route.per-try-timeout = 1 | envoy.yaml
          envoy | route / | route.retries = 3 | envoy.yaml`,
    good: `app | client | downstream.request-timeout = 30 | client.yaml
           app | client | route.retries = 0 | client.yaml
           envoy | route / | route.per-try-timeout = 1 | envoy.yaml
           envoy | route / | route.retries = 3 | envoy.yaml`,
    says: /\(2 \+ 1\) × \(3 \+ 1\) = 12 attempts/,
  },
  {
    rule: 'workers-at-timeout',
    bad: `app | all | workers.count = 16 | app
          app | all | dependency.timeout = 2 | app
          kubernetes | deployment app | replicas.count = 4 | k8s`,
    good: `app | all | workers.count = 16 | app
           app | all | dependency.timeout = 0.3 | app
           kubernetes | deployment app | replicas.count = 4 | k8s`,
    facts: { ratePerSecond: 200 },
    says: /200\/s × 2 s = 400 workers in use while it hangs, 16 × 4 replicas = 64 workers there/,
  },
  {
    rule: 'pool-at-timeout',
    bad: 'app | pool | pool.size = 10 | app\napp | pool | pool.hold-time = 0.2 | app',
    good: 'app | pool | pool.size = 20 | app\napp | pool | pool.hold-time = 0.2 | app',
    facts: { ratePerSecond: 100 },
    says: /100\/s × 200 ms = 20 connections in use/,
  },
  {
    rule: 'no-timeout',
    bad: 'app | all | dependency.timeout = Infinity | app',
    good: 'app | all | dependency.timeout = 5 | app',
    says: /one hang holds a worker for ever/,
  },
  {
    rule: 'default-timeout',
    bad: 'envoy | route / | route.timeout = (15) | e\nenvoy | route / | route.per-try-timeout = 30 | e',
    good: 'envoy | route / | route.timeout = 60 | e\nenvoy | route / | route.per-try-timeout = 30 | e',
    says: /longer than the 15 s that bind/,
  },
  {
    rule: 'eviction-headroom',
    bad: 'envoy | cluster a | outlier.max-ejection-share = 0.5 | e\nenvoy | cluster a | upstream.endpoints = 4 | e',
    good: 'envoy | cluster a | outlier.max-ejection-share = 0.3 | e\nenvoy | cluster a | upstream.endpoints = 4 | e',
    says: /2 of 4 out leaves 4 ÷ 2 = 2 times the load/,
  },
  {
    rule: 'nobody-left',
    bad: 'envoy | cluster a | balance.panic-threshold = 0 | e\nenvoy | cluster a | health.interval = 5 | e\nenvoy | cluster a | health.fall = 2 | e',
    good: 'envoy | cluster a | balance.panic-threshold = 0.5 | e\nenvoy | cluster a | health.interval = 5 | e\nenvoy | cluster a | health.fall = 2 | e',
    says: /2 checks missed within 6\.00 s/,
  },
  {
    rule: 'last-peer',
    bad: `nginx | upstream a | upstream.endpoints = 2 | n
          nginx | upstream a | upstream.down-servers = 1 | n
          nginx | upstream a | upstream.max-fails = (1) | n
          nginx | upstream a | upstream.fail-timeout = (10) | n`,
    good: `nginx | upstream a | upstream.endpoints = 3 | n
           nginx | upstream a | upstream.down-servers = 1 | n
           nginx | upstream a | upstream.max-fails = (1) | n`,
    says: /2 − 1 down = 1 live server, and 1 failure takes it out for 10 s/,
  },
  {
    rule: 'keep-alive-order',
    bad: 'envoy | cluster a | upstream.idle-timeout = 3600 | e\nnode | server | downstream.keepalive-timeout = 5 | n',
    good: 'envoy | cluster a | upstream.idle-timeout = 4 | e\nnode | server | downstream.keepalive-timeout = 5 | n',
    says: /sender 3600 s ≥ receiver 5 s/,
  },
  {
    rule: 'connection-pinning',
    bad: `nginx | upstream a | upstream.keepalive-connections = 32 | n
          nginx | upstream a | upstream.endpoints = 1 | n
          kubernetes | service a | upstream.address-kind = cluster-ip | k`,
    good: `nginx | upstream a | upstream.keepalive-connections = 32 | n
           nginx | upstream a | upstream.endpoints = 3 | n
           kubernetes | service a | upstream.address-kind = headless | k`,
    says: /balanced only once/,
  },
  {
    rule: 'probe-shares-workers',
    bad: `kubernetes | deployment a readiness | health.kind = http | k
          kubernetes | deployment a readiness | health.interval = 5 | k
          kubernetes | deployment a readiness | health.fall = 2 | k
          gunicorn | conf | workers.count = 3 | g`,
    good: `kubernetes | deployment a readiness | health.kind = http | k
           gunicorn | conf | workers.count = 3 | g
           app | all | health.shares-workers = false | notes`,
    says: /when 3 workers are busy for 5 s × \(2 − 1\) \+ 1 s = 6 s, every replica is taken out/,
  },
  {
    rule: 'port-ceiling',
    bad: 'haproxy | backend a | upstream.reuse = never | h\nhaproxy | backend a | upstream.endpoints = 1 | h',
    good: 'haproxy | backend a | upstream.reuse = safe | h\nhaproxy | backend a | upstream.endpoints = 1 | h',
    facts: { ratePerSecond: 480 },
    says: /28232 ports × 1 address ÷ 60 s = 471\/s at the most; 480\/s are meant/,
  },
  {
    rule: 'descriptor-ceiling',
    bad: 'haproxy | global | downstream.max-connections = 4000 | h\nkernel | all | kernel.files-per-process-max = 7999 | k',
    good: 'haproxy | global | downstream.max-connections = 4000 | h\nkernel | all | kernel.files-per-process-max = 8000 | k',
    says: /4000 × 2 = 8000 connections, and 7999 files/,
  },
  {
    rule: 'backlog-clamped',
    bad: 'nginx | server 80 | listen.backlog = 8192 | n\nkernel | all | kernel.somaxconn = 4096 | k',
    good: 'nginx | server 80 | listen.backlog = 4096 | n\nkernel | all | kernel.somaxconn = 4096 | k',
    says: /min\(8192, 4096\) = 4096/,
  },
  {
    rule: 'pick-first',
    bad: 'haproxy | backend a | balance.policy = first | h',
    good: 'haproxy | backend a | balance.policy = round-robin | h',
    says: /of n replicas n − 1 are idle/,
  },
  {
    rule: 'drain-order',
    bad: `kubernetes | pod a | rollout.pre-stop-sleep = 5 | k
          aws | target group | health.interval = 10 | t
          aws | target group | health.fall = 3 | t`,
    good: `kubernetes | pod a | rollout.pre-stop-sleep = 60 | k
           aws | target group | health.interval = 10 | t
           aws | target group | health.fall = 3 | t`,
    says: /5 s/,
  },
  {
    rule: 'zone-balance',
    bad: 'aws | lb | balance.cross-zone = false | a\naws | lb | replicas.zone-layout = eight and two | t',
    good: 'aws | lb | balance.cross-zone = true | a\naws | lb | replicas.zone-layout = eight and two | t',
    says: /zone/i,
  },
];

for (const { rule, bad, good, says, facts = {} } of cases) {
  test(`${rule}: the fault is found with its arithmetic, and without it nothing is`, () => {
    const own = resultOf(bad, facts).findings.filter((one) => one.rule === rule && one.severity !== 'note');
    assert.ok(own.length > 0, found(bad, facts).join('\n'));
    assert.match(own[0]?.because ?? '', says);
    assert.ok((own[0]?.instead ?? '').length > 0);
    const others = found(good, facts).filter((line) => line.includes(` ${rule} `) && !line.startsWith('note'));
    assert.deepEqual(others, []);
  });
}

test('every rule has such a case, a name of its own, and stands in the table', () => {
  assert.deepEqual(cases.map(({ rule }) => rule).toSorted(), [...ruleNames].toSorted());
  assert.deepEqual(preflightRules.map(({ name }) => name).toSorted(), [...ruleNames].toSorted());
});

test('what a rule lacks is said, and a limit without a rate is a note', () => {
  const { findings, unchecked } = resultOf(
    'app | all | workers.count = 16 | app\napp | all | dependency.timeout = 2 | app',
    {},
  );
  assert.deepEqual(
    findings.map(({ severity, because }) => `${severity} ${because}`),
    ['note 16 workers ÷ 2 s = 8/s while app all: timeout of the call 2 s is used up (app all: workers 16)'],
  );
  assert.ok(unchecked.some(({ rule, missing }) => rule === 'workers-at-timeout' && missing.includes('--rate')));
});

test('a window in which another try may begin bounds the tries of nginx', () => {
  const nginx = `nginx | location / | upstream.read-timeout = 10 | n
    nginx | location / | route.retries = 2 | n
    nginx | location / | retry.window = WINDOW | n`;
  assert.ok(found(nginx.replace('WINDOW', '9')).includes('error tries-fit-deadline n'));
  assert.ok(found(nginx.replace('WINDOW', '10')).includes('warning tries-fit-deadline n'));
  assert.ok(!found(nginx.replace('WINDOW', '20')).some((line) => line.includes('tries-fit-deadline')));
});

test('the order of the files is that of a request: turned round, nothing outlives anything', () => {
  const both = `haproxy | backend app | upstream.read-timeout = 30 | edge.cfg
    nginx | location / | upstream.read-timeout = 60 | nginx.conf`;
  assert.deepEqual(found(both, { order: ['nginx.conf', 'edge.cfg'] }), []);
});

test('nothing but settings counts: what happened elsewhere is no finding', () => {
  const dossier = {
    ...emptyDossier,
    messages: [
      { program: 'nginx', atMs: 0, code: 'no-live-upstreams', text: 'no live upstreams', origin: { file: 'e' } },
    ],
  };
  assert.deepEqual(preflight(dossier), {
    findings: [],
    unchecked: [{ rule: 'timeout-order', missing: 'a second tier: give the configurations in the order of a request' }],
  });
});

test('the reference has every rule in its own words', () => {
  const page = readFileSync(new URL('../../../docs/reference/check.md', import.meta.url), 'utf8');
  for (const { name, holds } of preflightRules) {
    assert.ok(page.includes(`\`${name}\``) && page.includes(holds), name);
  }
});
