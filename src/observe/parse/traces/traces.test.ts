import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dossierOf, expected, messageLines, requestLines, sampleLines } from '../../testing/facts.ts';
import { samples } from '../../testing/samples.ts';

test('OTLP: answers with their replica, calls with their tries, and work that nobody waited for', () => {
  const dossier = dossierOf(samples['OTLP traces'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:00.000 GET /cart status=504 seconds=0.25 by=shop-1 flag=error service=shop
      07:00:00.012 GET /stock seconds=0.4 by=stock-2 for=shop-1 service=stock
      07:00:00.122 GET /stock status=200 seconds=0.096 by=stock-2 for=shop-1 service=stock
      07:00:00.010 GET /stock status=200 seconds=0.21 upstream=0.1 answered=200 tries=2 by=stock-2 for=shop-1 service=stock
    `),
  );
  assert.deepEqual(
    sampleLines(dossier),
    expected(`
      spans_outlived_caller_total +1
      spans_outlived_caller_seconds_total +0.302
    `),
  );
  assert.deepEqual(
    messageLines(dossier),
    expected(`
      07:00:00.110 outlived-caller stock
    `),
  );
});

test('Jaeger', () => {
  const dossier = dossierOf(samples['Jaeger traces'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:00.000 GET /cart status=200 seconds=0.25 by=shop-1 service=shop
      07:00:00.010 stock seconds=0.1 upstream=0.1 tries=1 by=stock for=shop-1 service=stock
    `),
  );
});

test('Zipkin', () => {
  const dossier = dossierOf(samples['Zipkin traces'] ?? '');
  assert.deepEqual(
    requestLines(dossier),
    expected(`
      07:00:00.000 get /cart status=200 seconds=0.25 by=10.0.0.1:80 service=shop
      07:00:00.010 stock seconds=0.1 upstream=0.1 tries=1 by=stock for=10.0.0.1 flag=timeout service=stock
    `),
  );
});
