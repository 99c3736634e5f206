// Which connection a request goes over, by scripts: users who keep their replica, and connections that are closed though they are good.
// Of two targets in turn the second is the first here: so it was drawn.

import { test } from 'node:test';
import { checkLoad } from './testing/scripted-load.ts';

test('users who keep nothing walk from target to target, on a connection to each', () =>
  checkLoad(`
    closed users=1 think=10 targets=api-1,api-2
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200
    11  #2 opens
    11  #2 asks GET /
    12  #2 answers 200
    22  #1 asks GET /
    22  second by.api-1=1 by.api-2=1
    22  connections 2
    22  stop grace=0
    end planned=3 answered=2 in_flight_at_end=1`));

test('pinned users keep the target that they got first, each on one connection', () =>
  checkLoad(`
    closed users=2 think=10 targets=api-1,api-2 pinned
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200
    5   #2 opens
    5   #2 asks GET /
    6   #2 answers 200
    11  #1 asks GET /
    12  #1 answers 200
    16  #2 asks GET /
    17  #2 answers 200
    17  second by.api-1=2 by.api-2=2
    17  connections 2
    17  stop grace=0
    end planned=4 answered=4`));

for (const [how, line] of [
  ['is reset under a request', '11  #1 resets'],
  ['is closed while the user thinks', '5   #1 hangs up'],
] as const) {
  test(`a pinned connection that ${how} is made to another target, and kept again`, () =>
    checkLoad(`
      closed users=1 think=10 targets=api-1,api-2 pinned retries=1
      0   #1 opens
      0   #1 asks GET /
      1   #1 answers 200
      ${line}
      11  #2 opens
      11  #2 asks GET /
      12  #2 answers 200
      22  #2 asks GET /
      23  #2 answers 200
      23  second by.api-2=1 by.api-1=2
      23  connections 1
      23  stop grace=0
      end planned=3 answered=3`));
}

test('a pinned user whom one target refuses asks the next one', () =>
  checkLoad(`
    closed users=1 targets=api-1,api-2 pinned
    0   #1 refuses
    100 #2 opens
    100 #2 asks GET /
    101 #2 answers 200
    101 #2 asks GET /
    101 second by.api-1=1 error.refused=1
    101 stop grace=0
    end planned=3 answered=1 failed=1 in_flight_at_end=1`));

test('patience that runs out takes the connection along, and with it the pin', () =>
  checkLoad(`
    closed users=1 think=10 timeout=50 targets=api-1,api-2 pinned
    0   #1 opens
    0   #1 asks GET /
    50  #1 is closed
    60  #2 opens
    60  #2 asks GET /
    61  #2 answers 200
    61  second by.api-1=1 error.timeout=1
    61  stop grace=0
    end planned=2 answered=1 timed_out=1`));

test('an answer of 503 breaks no connection: the next try goes to the same target', () =>
  checkLoad(`
    closed users=1 think=10 targets=api-1,api-2 pinned retries=1
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 503
    1   #1 asks GET /
    2   #1 answers 200
    2   connections 1
    2   stop grace=0
    end planned=1 answered=1`));

test('after so many requests a connection is closed, and the next request opens another', () =>
  checkLoad(`
    closed users=1 think=10 requests=2
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200
    11  #1 asks GET /
    11  connections 1
    12  #1 answers 200
    12  #1 is closed
    12  connections 0
    22  #2 opens
    22  #2 asks GET /
    23  #2 answers 200
    23  second answered=3
    23  stop grace=0
    end planned=3 answered=3`));

test('a connection that is too old is closed when the next request would use it', () =>
  checkLoad(`
    closed users=1 think=10 lifetime=15
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200
    11  #1 asks GET /
    12  #1 answers 200
    21  connections 1
    22  #1 is closed
    22  #2 opens
    22  #2 asks GET /
    30  #2 answers 200
    30  second answered=3
    30  stop grace=0
    end planned=3 answered=3`));

test('a request that is under way when its connection grows old is answered on it', () =>
  checkLoad(`
    closed users=1 think=10 lifetime=15
    0   #1 opens
    0   #1 asks GET /
    20  #1 answers 200
    20  #1 is closed
    30  #2 opens
    30  #2 asks GET /
    31  #2 answers 200
    31  second answered=2
    31  stop grace=0
    end planned=2 answered=2`));

test('the first connections of users have parts of a life, so that not all are closed together', () =>
  checkLoad(`
    closed users=2 think=20 requests=4
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200
    10  #2 opens
    10  #2 asks GET /
    11  #2 answers 200
    21  #1 asks GET /
    22  #1 answers 200
    22  #1 is closed
    -- the second user's has all of it
    31  #2 asks GET /
    32  #2 answers 200
    32  connections 1
    32  stop grace=0
    end planned=4 answered=4`));

test('a pinned user whose connection is spent is placed anew', () =>
  checkLoad(`
    closed users=1 think=10 targets=api-1,api-2 pinned requests=1
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200
    1   #1 is closed
    11  #2 opens
    11  #2 asks GET /
    12  #2 answers 200
    12  #2 is closed
    12  second by.api-1=1 by.api-2=1
    12  stop grace=0
    end planned=2 answered=2`));

test('a pinned user whose connection is too old is placed anew when it asks again', () =>
  checkLoad(`
    closed users=1 think=10 targets=api-1,api-2 pinned lifetime=5
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200
    10  connections 1
    11  #1 is closed
    11  #2 opens
    11  #2 asks GET /
    12  #2 answers 200
    12  second by.api-1=1 by.api-2=1
    12  stop grace=0
    end planned=2 answered=2`));

test('open arrivals close what is spent and open another for the next request', () =>
  checkLoad(`
    open rate=100 max=1 requests=2
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200
    10  #1 asks GET /
    11  #1 answers 200
    11  #1 is closed
    11  connections 0
    20  #2 opens
    20  #2 asks GET /
    -- the next one waits for it
    30  connections 1
    31  #2 answers 200
    31  #2 asks GET /
    32  #2 answers 200
    32  #2 is closed
    32  second answered=4
    32  stop grace=0
    end planned=4 answered=4`));

test('who waits for a connection gets a new one when that is spent', () =>
  checkLoad(`
    open rate=100 max=1 requests=1
    0   #1 opens
    0   #1 asks GET /
    15  #1 answers 200
    15  #1 is closed
    15  connections 1
    16  #2 opens
    16  #2 asks GET /
    17  #2 answers 200
    17  second answered=2
    17  stop grace=0
    end planned=2 answered=2`));

test('of idle connections of open arrivals those that are too old are passed over and closed', () =>
  checkLoad(`
    open rate=100 min=2 max=2 lifetime=18
    0   #1 opens
    0   #2 opens
    0   #1 asks GET /
    1   #1 answers 200
    10  #2 asks GET /
    11  #2 answers 200
    -- the first had half a life, the second a whole one
    20  #1 is closed
    20  #2 is closed
    20  connections 1
    20  #3 opens
    20  #3 asks GET /
    21  #3 answers 200
    21  second answered=3
    21  stop grace=0
    end planned=3 answered=3`));
