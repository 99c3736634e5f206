import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms } from '../base.ts';
import { checkLoad, playLoad } from './testing/scripted-load.ts';

test('requests come due by the clock, and take a connection that is idle or a new one', () =>
  checkLoad(`
    open rate=100
    0   #1 opens
    0   #1 asks GET /
    4   #1 answers 200 api-1
    10  #1 asks GET /
    20  #2 opens
    20  #2 asks GET /
    21  #1 answers 200 api-1
    22  #2 answers 200 api-2
    22  stop grace=0
    end planned=3 answered=3`));

test('the connection that has been idle longest is next', () =>
  checkLoad(`
    open rate=100 min=3
    0   connections 3
    0   #1 opens
    0   #2 opens
    0   #3 opens
    0   #1 asks GET /
    1   #1 answers 200 api-1
    10  #2 asks GET /
    11  #2 answers 200 api-1
    20  #3 asks GET /
    21  #3 answers 200 api-1
    30  #1 asks GET /
    31  #1 answers 200 api-1
    31  connections 3
    31  stop grace=0
    end planned=4 answered=4`));

test('a connection that closed while idle is passed over', () =>
  checkLoad(`
    open rate=100 min=2
    0   #1 opens
    0   #2 opens
    0   #1 asks GET /
    1   #1 answers 200 api-1
    5   #2 hangs up
    10  #1 asks GET /
    11  #1 answers 200 api-1
    11  stop grace=0
    end planned=2 answered=2`));

test('beyond the cap a request waits for a connection, and the wait is part of its latency', () =>
  checkLoad(`
    open rate=100 max=1
    0   #1 opens
    0   #1 asks GET /
    25  #1 answers 200 api-1
    25  #1 asks GET /
    30  #1 answers 200 api-1
    30  #1 asks GET /
    31  #1 answers 200 api-1
    -- due at 0, 10, 20 and 30; the last has just been sent
    31  second planned=4 answered=3 p50=20 lag=15
    33  #1 answers 200 api-1
    33  stop grace=0
    end planned=4 answered=4`));

test('the timeout runs while a request waits for its connection', () =>
  checkLoad(`
    open rate=100 max=1 timeout=25
    0   #1 opens
    0   #1 asks GET /
    24  #1 answers 200 api-1
    24  #1 asks GET /
    -- due at 10 and sent at 24: given up at 35, and the connection with it; the request of 20 may open another
    35  #1 is closed
    35  second error.timeout=1 answered=1
    36  #2 opens
    36  #2 asks GET /
    40  #2 answers 200 api-1
    40  #2 asks GET /
    40  stop grace=0
    end planned=5 answered=2 timed_out=1 in_flight_at_end=1 never_sent=1`));

test('whoever finds no room to wait is refused', async () => {
  await checkLoad(`
    open rate=100 max=1 room=1
    0   #1 opens
    0   #1 asks GET /
    35  second planned=4 sent=1 refused=2 in_flight=0/1.714/3
    35  #1 answers 200 api-1
    35  #1 asks GET /
    36  #1 answers 200 api-1
    36  stop grace=0
    end planned=4 answered=2 refused=2`);
  await checkLoad(`
    open rate=100 max=1 room=0
    0   #1 opens
    0   #1 asks GET /
    11  #1 answers 200 api-1
    20  #1 asks GET /
    21  #1 answers 200 api-1
    21  stop grace=0
    end planned=3 answered=2 refused=1`);
});

test('a flow is walked request by request', () =>
  checkLoad(`
    open rate=100 flow=/a,POST:/b
    0   #1 opens
    0   #1 asks GET /a
    1   #1 answers 200 api-1
    10  #1 asks POST /b
    11  #1 answers 200 api-1
    20  #1 asks GET /a
    21  stop grace=0
    end planned=3 answered=2 in_flight_at_end=1`));

test('after a stall of our own everything that was missed is sent at once, due when it was due', () =>
  checkLoad(`
    open rate=100 min=4
    0   #1 opens
    0   #2 opens
    0   #3 opens
    0   #4 opens
    0   #1 asks GET /
    1   #1 answers 200 api-1
    1   second planned=1 answered=1
    5   stall 30
    35  #2 asks GET /
    35  #3 asks GET /
    35  #4 asks GET /
    36  #2 answers 200 api-1
    36  #3 answers 200 api-1
    36  #4 answers 200 api-1
    36  second planned=3 answered=3 p50=16 lag=25
    36  stop grace=0
    end planned=4 answered=4`));

test('an answer wakes us: what is due by then need not wait for a late alarm', () =>
  checkLoad(
    `
    open rate=100 min=1
    0   #1 opens
    0   #1 asks GET /
    12  #1 answers 200 api-1
    12  #1 asks GET /
    12  second planned=2 lag=2
    12  stop grace=0
    end planned=2 answered=1 in_flight_at_end=1`,
    { alarmLateness: ms(5) },
  ));

test('a connection that is gone makes room below the cap, whether it was idle or not', () =>
  checkLoad(`
    open rate=100 max=1
    0   #1 opens
    1   #1 answers 200 api-1 close
    10  #2 opens
    10  #2 asks GET /
    11  #2 answers 200 api-1
    15  #2 hangs up
    20  #3 opens
    20  #3 asks GET /
    21  #3 resets
    30  #4 opens
    30  #4 asks GET /
    31  #4 answers 200 api-1
    31  stop grace=0
    end planned=4 answered=3 failed=1`));

test('what is due at the stop is sent yet, though the alarm is late', () =>
  checkLoad(
    `
    open rate=100 min=4
    0   #1 opens
    0   #2 opens
    0   #3 opens
    0   #4 opens
    5   #1 answers 200 api-1
    32  stop grace=5
    33  #2 answers 200 api-1
    33  #3 answers 200 api-1
    33  #4 asks GET /
    end planned=4 answered=3 in_flight_at_end=1`,
    { alarmLateness: ms(50) },
  ));

test('a backlog that a turn cannot send was never sent, and is in the ledger', () =>
  checkLoad(
    `
    open rate=10000 min=1
    0    #1 opens
    0    #1 answers 200 api-1
    -- due by now: 2,001; one is on the open connection, 999 are on connections that never open
    200  stop grace=0
    end  planned=2001 answered=1 in_flight_at_end=1 never_sent=1999`,
    { alarmLateness: ms(500) },
  ));

test('a refused connection fails its own request only', () =>
  checkLoad(`
    open rate=100
    1   #1 refuses
    1   second error.refused=1 refused=0
    10  #2 opens
    10  #2 asks GET /
    11  #2 answers 200 api-1
    11  stop grace=0
    end planned=2 answered=1 failed=1`));

test('files and ports that run out are limits of the generator, told with their number', async () => {
  const result = await playLoad(`
    open rate=100
    1   #1 fails no-files
    11  #2 fails no-ports
    21  #3 fails no-files
    22  stop grace=0
    end planned=3 failed=3`);
  assert.match(
    result.limits.join('\n'),
    /shop: 2 connections .* no more files[^]*shop: 1 connections .* no local port/,
  );
});

test('a cap that made requests wait is told', async () => {
  const result = await playLoad(`
    open rate=100 max=1
    0   #1 opens
    15  #1 answers 200 api-1
    16  #1 answers 200 api-1
    16  stop grace=0`);
  assert.match(result.limits.join('\n'), /all 1 connections were in use: 1 requests waited/);
});
