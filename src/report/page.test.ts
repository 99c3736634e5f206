import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import type { AuditRow, Diagnosis } from '../diagnose.ts';
import { recordOf, type RecordLine } from '../record.ts';
import type { Outcome } from './outcome.ts';
import { resultPage } from './page.ts';
import { auditStrip } from './strip.ts';

const row = (more: Partial<AuditRow>): AuditRow => ({
  theory: 'convoy',
  phase: 'baseline',
  claim: 'The pile stays.',
  predicted: { low: 0.5, high: 1, unit: 'share', text: '50 % to 100 %' },
  observed: { value: 0.7, low: 0.6, high: 0.8, unit: 'share', text: '70 %' },
  refutes: 'A pile that wanders.',
  bearing: 'necessary',
  result: 'supports',
  ...more,
});

const diagnosis: Diagnosis = {
  verdict: {
    pattern: 'convoy',
    culprit: 'api-2 <b>"&\'',
    confidence: 0.9,
    sentence: 'It waits for <script>alert(1)</script>.',
    arithmetic: ['4 × 174/s = 696/s'],
    fix: 'Balance by least-request.',
  },
  theories: [
    { theory: 'overload', title: 'Overload', standing: 'refuted', reason: 'Workers idle.' },
    { theory: 'convoy', title: 'Convoy', standing: 'established', reason: 'All holds.' },
  ],
  audit: [
    row({}),
    row({ theory: 'overload', claim: 'It also grows.', result: 'supports' }),
    row({ theory: 'overload', claim: 'All are busy.', result: 'contradicts' }),
  ],
  checks: [{ law: 'little', of: 'all clients', left: 64, right: 63.8, holds: true, text: '64 against 63.8' }],
  phases: [],
};

const lines: RecordLine[] = [
  {
    kind: 'header',
    format: 'plimsoll-record',
    version: 1,
    id: 'a',
    started_at: '2026-01-01T00:00:00Z',
    world: 'sim',
    scenario: 'small <fleet>',
    environment: { plimsoll: '0.1.0' },
  },
  { kind: 'topology', at_ns: 0, services: [], clients: [] },
  { kind: 'phase', at_ns: 0, name: 'baseline', measure_from_ns: 0 },
  ...[0, 1, 2].map((second): RecordLine => ({
    kind: 'tick',
    at_ns: second * 1e9,
    span_ns: 1e9,
    phase: 'baseline',
    replicas: Array.from({ length: 30 }, (_, index) => ({
      id: `api-${index + 1}`,
      finished: 100,
      in_flight_mean: index === 6 ? 50 : 1,
    })),
    clients: [
      {
        group: 'users',
        planned: 10,
        sent: 10,
        answered: 10,
        in_flight_mean: 1,
        latency: { count: 10, mean_ns: 2e6, p50_ns: 1e6, p90_ns: 3e6, p99_ns: 4e6, max_ns: 5e6 },
      },
    ],
  })),
];

const outcome: Outcome = {
  record: recordOf(lines),
  diagnosis,
  objectives: [{ metric: 'http_req_duration', expression: 'p(95)<200', observed: 210.5, met: false }],
  limits: [],
  file: 'runs/a/record.jsonl',
};

test('nothing of a record becomes markup', () => {
  const page = resultPage(outcome);
  assert.ok(!page.includes('<script'));
  assert.ok(page.includes('&lt;script&gt;alert(1)&lt;/script&gt;'));
  assert.ok(page.includes('<h1>convoy: api-2 &lt;b&gt;&quot;&amp;&#39;</h1>'));
  assert.ok(page.includes('small &lt;fleet&gt;'));
});

test('the standing theory comes first and open; of a refuted one, what refuted it comes first', () => {
  const page = resultPage(outcome);
  assert.ok(page.indexOf('<b>Convoy</b>') < page.indexOf('<b>Overload</b>'));
  assert.equal((page.match(/<details open>/g) ?? []).length, 1);
  assert.ok(page.indexOf('All are busy.') < page.indexOf('It also grows.'));
});

test('of thirty replicas twelve are drawn, the one that piles up among them, and the caption says so', () => {
  const page = resultPage(outcome);
  const chart = page.slice(page.indexOf('<figure>'), page.indexOf('</figure>'));
  assert.equal((chart.match(/<path /g) ?? []).length, 12);
  assert.ok(chart.includes('>api-7</text>'));
  assert.ok(chart.includes('the 12 of 30 replicas that reached highest'));
});

test('the mark of an observation lies in the band of its prediction just when it does in numbers', () => {
  const place = (more: Partial<AuditRow>): { mark: number; from: number; to: number } => {
    const strip = auditStrip(row(more)) ?? assert.fail('drawn');
    const number = (pattern: RegExp): number => Number(pattern.exec(strip)?.[1]);
    const from = number(/class="band" x="([\d.]+)"/);
    return { mark: number(/cx="([\d.]+)"/), from, to: from + number(/class="band"[^>]* width="([\d.]+)"/) };
  };
  const inside = place({});
  assert.ok(inside.from < inside.mark && inside.mark < inside.to);
  const above = place({ predicted: { high: 0.2, unit: 'share', text: '' } });
  assert.ok(above.mark > above.to && above.from === 0, 'an upper bound runs on to the left edge');
  const below = place({ predicted: { low: 0.9, unit: 'share', text: '' } });
  assert.ok(below.mark < below.from);
  assert.equal(auditStrip(row({ predicted: { text: 'yes', low: 1, unit: 'yes' } })), undefined);
  assert.equal(auditStrip(row({ observed: { text: 'closed loop' } })), undefined);
});

const browser = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path));

test(
  'a browser shows it without a complaint and asks nobody for anything',
  { skip: browser === undefined && 'no chromium' },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-page-'));
    const file = join(folder, 'report.html');
    writeFileSync(file, resultPage(outcome));
    const opened = await chromium.launch({
      executablePath: browser ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    });
    try {
      const page = await opened.newPage();
      const complaints: string[] = [];
      const requests: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('request', (request) => requests.push(request.url()));
      await page.goto(`file://${file}`);
      assert.equal(await page.locator('h1').textContent(), 'convoy: api-2 <b>"&\'');
      assert.equal(await page.locator('figure svg').count(), 3);
      assert.ok(await page.getByText('The pile stays.').isVisible());
      assert.ok(!(await page.getByText('All are busy.').isVisible()), 'refuted theories are folded');
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth',
      );
      assert.equal(overflow, false, 'nothing hangs out at the side');
      assert.deepEqual(complaints, []);
      assert.equal(requests.length, 1);
    } finally {
      await opened.close();
      rmSync(folder, { recursive: true });
    }
  },
);
