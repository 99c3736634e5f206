// `plimsoll check` as a person and a pipeline meet it: files in, findings with their lines, SARIF, exit codes.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Ajv } from 'ajv';
import { z } from 'zod';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'plimsoll.js');
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-check-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function check(...args: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, 'check', ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1' },
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

const edge = file(
  'edge.cfg',
  `defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 30s
    retries 2
    retry-on response-timeout
frontend web
    bind :80
    default_backend app
backend app
    server a 10.0.0.1:8080
`,
);
const inner = file(
  'inner.conf',
  `events {}
http {
  upstream api { server 10.0.1.1:80; server 10.0.1.2:80; keepalive 16; }
  server {
    listen 80;
    location / {
      proxy_read_timeout 60s;
      proxy_next_upstream error timeout;
      proxy_next_upstream_tries 3;
      proxy_pass http://api;
    }
  }
}
`,
);
const calm = file(
  'calm.conf',
  'events {}\nhttp { upstream a { server 10.0.0.1:80; server 10.0.0.2:80; keepalive 8; } server { listen 80; location / { proxy_read_timeout 5s; proxy_pass http://a; } } }\n',
);

test('two tiers in the order of a request: the line, the arithmetic, what would be right, exit code 1', () => {
  const { code, stdout } = check(edge, inner);
  assert.equal(code, 1);
  assert.match(stdout, /^inner\.conf:7: error: timeout-order$/m);
  assert.match(stdout, /3 × 60 s = 180 s .* timeout server 30 s in front/);
  assert.match(stdout, /right would be: everything inside below 30 s: a try of less than 10 s/);
  assert.match(stdout, /see edge\.cfg:5/);
  assert.match(stdout, /^inner\.conf:9: error: retry-product$/m);
  assert.match(stdout, /\(2 \+ 1\) × \(2 \+ 1\) = 9 attempts/);
});

test('nothing wrong ends in 0', () => {
  const { code, stdout } = check(calm);
  assert.equal(code, 0, stdout);
});

test('as JSON: the same findings, and what could not be looked at', () => {
  const place = z.object({ file: z.string(), line: z.number().optional() });
  const finding = z.object({
    rule: z.string(),
    severity: z.string(),
    where: place,
    also: z.array(place),
    because: z.string(),
    instead: z.string(),
  });
  const shape = z.object({
    schema: z.literal('plimsoll.dev/check/v1'),
    findings: z.array(finding),
    unchecked: z.array(z.object({ rule: z.string(), missing: z.string() })),
  });
  const { code, stdout } = check(edge, inner, '--json');
  const result = shape.parse(JSON.parse(stdout));
  assert.equal(code, 1);
  assert.ok(
    result.findings.some(({ rule, where }) => rule === 'timeout-order' && where.file === inner && where.line === 7),
  );
});

// The rules of SARIF 2.1.0 (OASIS, sections 3.13–3.30) that hold for what a tool like this writes, restated.
const location = {
  type: 'object',
  required: ['physicalLocation'],
  properties: {
    id: { type: 'integer', minimum: 0 },
    physicalLocation: {
      type: 'object',
      required: ['artifactLocation'],
      properties: {
        artifactLocation: {
          type: 'object',
          required: ['uri'],
          properties: { uri: { type: 'string', pattern: '^[^\\s\\\\]+$' } },
        },
        region: { type: 'object', required: ['startLine'], properties: { startLine: { type: 'integer', minimum: 1 } } },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};
const level = { enum: ['none', 'note', 'warning', 'error'] };
const text = {
  type: 'object',
  required: ['text'],
  properties: { text: { type: 'string', minLength: 1 } },
  additionalProperties: false,
};
const sarifSchema = {
  type: 'object',
  required: ['version', 'runs'],
  properties: {
    $schema: { type: 'string' },
    version: { const: '2.1.0' },
    runs: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['tool', 'results'],
        properties: {
          tool: {
            type: 'object',
            required: ['driver'],
            properties: {
              driver: {
                type: 'object',
                required: ['name'],
                properties: {
                  name: { type: 'string' },
                  semanticVersion: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+' },
                  rules: {
                    type: 'array',
                    uniqueItems: true,
                    items: {
                      type: 'object',
                      required: ['id'],
                      properties: {
                        id: { type: 'string' },
                        name: { type: 'string' },
                        shortDescription: text,
                        fullDescription: text,
                        defaultConfiguration: { type: 'object', properties: { level }, additionalProperties: false },
                      },
                      additionalProperties: false,
                    },
                  },
                },
                additionalProperties: false,
              },
            },
            additionalProperties: false,
          },
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          results: {
            type: 'array',
            items: {
              type: 'object',
              required: ['message'],
              properties: {
                ruleId: { type: 'string' },
                ruleIndex: { type: 'integer', minimum: 0 },
                level,
                message: text,
                locations: { type: 'array', items: location },
                relatedLocations: { type: 'array', uniqueItems: true, items: location },
              },
              additionalProperties: false,
            },
          },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
};

const sarifShape = z.object({
  runs: z.array(
    z.object({
      tool: z.object({ driver: z.object({ rules: z.array(z.object({ id: z.string() })) }) }),
      results: z.array(z.object({ ruleId: z.string(), ruleIndex: z.number(), level: z.string() })),
    }),
  ),
});

test('as SARIF: valid, each result at its rule, into a file or to standard output', () => {
  const odd = file('an odd name #1.cfg', readFileSync(join(folder, edge), 'utf8'));
  const { code, stdout } = check(odd, inner, '--sarif', '-');
  assert.equal(code, 1);
  const written: unknown = JSON.parse(stdout);
  const validate = new Ajv({ strict: false }).compile(sarifSchema);
  assert.ok(validate(written), JSON.stringify(validate.errors));
  const [run] = sarifShape.parse(written).runs;
  assert.ok((run?.results.length ?? 0) > 1);
  for (const { ruleId, ruleIndex } of run?.results ?? []) assert.equal(run?.tool.driver.rules[ruleIndex]?.id, ruleId);
  assert.ok(stdout.includes('an%20odd%20name%20%231.cfg'));
  const into = check(calm, '--sarif', 'out.sarif');
  assert.equal(into.code, 0);
  assert.ok(validate(JSON.parse(readFileSync(join(folder, 'out.sarif'), 'utf8'))));
});

test('Kubernetes and a server in one manifest: the pool, the probe and the keep-alive order', () => {
  const manifest = file(
    'api.yaml',
    `apiVersion: v1
kind: Service
metadata: {name: api}
spec: {type: ClusterIP, clusterIP: 10.96.0.20, selector: {app: api}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 3
  selector: {matchLabels: {app: api}}
  template:
    spec:
      containers:
      - name: api
        command: ["gunicorn", "api:app", "--workers", "4", "--worker-class", "gthread", "--keep-alive", "2"]
        readinessProbe: {httpGet: {path: /healthz, port: 8000}, periodSeconds: 5, failureThreshold: 2}
`,
  );
  const front = file(
    'front.conf',
    'events {}\nhttp {\n  upstream api { server 10.96.0.20:80; keepalive 64; }\n  server { listen 80; location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://api; } }\n}\n',
  );
  const { stdout } = check(front, manifest);
  assert.match(stdout, /^front\.conf:3: error: keep-alive-order$/m);
  assert.match(stdout, /^front\.conf:3: error: connection-pinning$/m);
  assert.match(stdout, /^api\.yaml:\d+: warning: probe-shares-workers$/m);
});

test('a scenario of ours by its name or its path, with its lines', () => {
  const { code, stdout } = check('no-healthy-upstream');
  assert.equal(code, 1);
  assert.match(stdout, /^no-healthy-upstream \(built in\):\d+: error: timeout-order$/m);
  assert.match(stdout, /store: it has no timeout, and the gateway gives up after 1\.00 s/);
  assert.match(stdout, /^no-healthy-upstream \(built in\):\d+: error: retry-product$/m);
  assert.equal(check('healthy').code, 0);
});

test('a gateway file of ours: what the gateway itself would refuse, at the key', () => {
  const gateway = file(
    'gateway.yaml',
    `listen: { host: 127.0.0.1, port: 8080 }
timeout_ns: 30000000000
panic_below: 0.5
endpoints:
  - { id: a, host: 127.0.0.1, port: 9001 }
chain: { before: { timeout_ns: 10000000000, retries: 0 } }
`,
  );
  const { code, stdout } = check(gateway);
  assert.equal(code, 1);
  assert.match(stdout, /^gateway\.yaml:2: error: timeout-order$/m);
  assert.match(stdout, /a request is given 30\.0 s here, and who asks gives up after 10\.0 s/);
});

test('a rate makes ceilings into errors', () => {
  const cold = file(
    'cold.cfg',
    'defaults\n    mode http\n    timeout connect 1s\n    timeout client 5s\n    timeout server 5s\nbackend a\n    http-reuse never\n    server a 10.0.0.1:80\n',
  );
  assert.equal(check(cold, '--rate', '400').code, 0);
  const { code, stdout } = check(cold, '--rate', '500');
  assert.equal(code, 1);
  assert.match(stdout, /28232 ports × 1 address ÷ 60 s = 471\/s at the most; 500\/s are\s+meant/);
});

test('bad input ends in 2 and says what would be right', () => {
  const bad: readonly (readonly [readonly string[], RegExp])[] = [
    [['absent.cfg'], /absent\.cfg: there is no such file/],
    [[file('empty.cfg', '')], /empty\.cfg: the file is empty/],
    [[file('list.txt', 'milk\nbread\nbutter\n')], /list\.txt: not a format that is known here/],
    [[calm, '--rate', 'many'], /--rate: expected requests a second/],
    [[file('wrong.yaml', 'plimsoll: 1\nservices: 3\n')], /wrong\.yaml:\d+:\d+:/],
  ];
  for (const [args, says] of bad) {
    const { code, stderr } = check(...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, says);
  }
});
