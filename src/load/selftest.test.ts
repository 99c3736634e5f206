import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms, seconds } from '../base.ts';
import { selftest, selftestText } from './selftest.ts';

test('a short self-test: the server counts what we planned, and our quantiles are its own or a limit says why not', async () => {
  const rows = await selftest({
    cases: [
      {
        name: 'brief',
        about: 'answers take 3 ms, and the server stands still for 200 ms',
        ratePerSecond: 400,
        connections: 20,
        duration: seconds(0.8),
        usual: ms(3),
        stall: { at: ms(200), for: ms(200) },
      },
    ],
  });
  const [row] = rows;
  assert.ok(row !== undefined);
  assert.notEqual(row.verdict, 'off', selftestText(rows));
  assert.ok(row.received >= 320 && row.answered === row.received);
  // The stall is in the truth and in what was measured.
  assert.ok((row.quantiles.at(-1)?.truth ?? 0) > ms(190) && (row.quantiles.at(-1)?.measured ?? 0) > ms(190));
  assert.match(selftestText(rows), /brief at 400\/s on (?:uring|node): answers take 3 ms/);
});
