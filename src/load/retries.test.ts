// Clients that ask again, by scripts: what counts as a failure, which connection the next try goes over, and that however many tries
// there are, one planned request has one end whose latency counts from when it was first due. On real sockets in
// `retry-loopback.test.ts`.

import { test } from 'node:test';
import { checkLoad } from './testing/scripted-load.ts';

test('after a 503 the user asks again on the same connection; the latency counts from when it first asked', () =>
  checkLoad(`
    closed users=1 think=100 retries=2
    0   #1 opens
    0   #1 asks GET /
    10  #1 answers 503 api-1
    10  #1 asks GET /
    25  #1 answers 200 api-2
    25  second planned=1 sent=1 tries=2 retries=1 answered=1 error.status-5xx=0 by.api-1=0 by.api-2=1 p50=25
    125 #1 asks GET /
    125 stop grace=0
    end planned=2 answered=1 in_flight_at_end=1`));

test('when the last try fails the request has failed, once, in the way of that try', () =>
  checkLoad(`
    closed users=1 think=100 retries=2
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 500 api-1
    1   #1 asks GET /
    2   #1 resets
    3   #2 opens
    3   #2 asks GET /
    4   #2 answers 502 api-1
    4   second planned=1 sent=1 tries=3 retries=2 answered=0 error.status-5xx=1 error.reset=0 by.api-1=1
    50  #2 asks nothing
    50  stop grace=0
    end planned=1 failed=1`));

test('an answer of 404 is what was asked for: nobody asks again', () =>
  checkLoad(`
    closed users=1 think=100 retries=2
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 404 api-1
    1   second tries=1 retries=0 error.status-4xx=1
    50  #1 asks nothing
    50  stop grace=0
    end planned=1 failed=1`));

test('a try that times out takes its connection along, and the next has all its time', () =>
  checkLoad(`
    closed users=1 timeout=50 think=500 retries=1
    0   #1 opens
    0   #1 asks GET /
    50  #1 is closed
    50  connections 1
    60  #2 opens
    60  #2 asks GET /
    99  second error.timeout=0 tries=2 retries=1
    100 #2 is closed
    100 second error.timeout=1 tries=0 retries=0
    100 stop grace=0
    end planned=1 timed_out=1`));

test('a door that is shut is knocked at again, without the rest of a user who has given up', () =>
  checkLoad(`
    closed users=1 retries=1
    1   #1 refuses
    1   connections 1
    2   #2 refuses
    2   second planned=1 sent=0 tries=0 retries=1 error.refused=1
    101 connections 0
    102 connections 1
    102 stop grace=0
    end planned=2 failed=1 never_sent=1`));

test('a request whose first try was refused is sent with its second', () =>
  checkLoad(`
    closed users=1 think=10 retries=1
    0   #1 refuses
    10  #2 opens
    10  #2 asks GET /
    12  #2 answers 200 api-1
    12  second sent=1 tries=1 retries=1 answered=1
    12  stop grace=0
    end planned=1 answered=1`));

test('the wait is drawn below a ceiling that doubles', () =>
  checkLoad(`
    closed users=1 think=1000 retries=2 back=100
    0   #1 opens
    0   #1 asks GET /
    10  #1 answers 503
    10  #1 asks nothing
    110 #1 asks GET /
    110 #1 answers 503
    110 #1 asks nothing
    410 #1 asks GET /
    420 #1 answers 200
    -- the wait is the client's own: the generator was not late
    420 second tries=3 retries=2 answered=1 p50=420 lag=0
    420 stop grace=0
    end planned=1 answered=1`));

test('a budget of nothing allows its reserve of ten in ten seconds, and no more', () =>
  checkLoad(`
    open rate=1 retries=20 budget=0
    0     #1 opens
    0     #1 asks GET /
    0     #1 answers 503
    0     #1 asks GET /
    1     #1 answers 503
    2     #1 answers 503
    3     #1 answers 503
    4     #1 answers 503
    5     #1 answers 503
    6     #1 answers 503
    7     #1 answers 503
    8     #1 answers 503
    9     #1 answers 503
    9     second planned=1 tries=11 retries=10 error.status-5xx=0
    10    #1 answers 503
    10    second planned=0 tries=0 retries=0 error.status-5xx=1
    500   stop grace=0
    end   planned=1 failed=1`));

test('open arrivals ask again on whichever connection is idle, for the step that they are', () =>
  checkLoad(`
    open rate=100 flow=/a,/b retries=1 max=2
    0    #1 opens
    0    #1 asks GET /a
    5    #1 answers 503
    5    #1 asks GET /a
    10   #2 opens
    10   #2 asks GET /b
    15   #1 answers 200 api-1
    16   #2 answers 200 api-1
    16   second planned=2 sent=2 tries=3 retries=1 answered=2
    20   #1 asks GET /a
    20   stop grace=0
    end  planned=3 answered=2 in_flight_at_end=1`));

test('who is asked again waits for a connection as others do, and may lose patience while it waits', () =>
  checkLoad(
    `
    open rate=100 retries=1 max=1 timeout=25 room=5
    0    #1 opens
    0    #1 asks GET /
    1    #1 answers 503
    1    #1 asks GET /
    -- its second try has until 26; those of 10 and 20 wait for the connection
    26   #1 is closed
    26   #2 opens
    26   #2 asks GET /
    27   #2 answers 200
    27   #2 asks GET /
    27   second planned=3 tries=4 retries=1 answered=1 error.timeout=1
    27   stop grace=0
    end  planned=3 answered=1 timed_out=1 in_flight_at_end=1`,
  ));

test('a request that rests when the run ends was sent: it is in flight, and nobody asks again', () =>
  checkLoad(`
    closed users=1 retries=1 back=1000
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 503
    1   second in_flight=0/1/1 tries=1 retries=1
    1   stop grace=0
    end planned=1 in_flight_at_end=1`));

test('what rests when the run ends is asked within the grace; what fails then has failed', () =>
  checkLoad(`
    closed users=1 retries=5 back=10
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 503
    1   stop grace=100
    12  #1 asks GET /
    13  #1 answers 503
    13  #1 asks nothing
    end planned=1 failed=1`));

test('after a stall of ours somebody older may wait behind the younger: its time ends where it stands', () =>
  checkLoad(`
    open rate=1000 max=1 room=200 retries=1 back=20 timeout=50
    0    #1 opens
    0    #1 asks GET /
    0.5  #1 answers 503
    1    #1 asks GET /
    1    stall 99
    -- of those that came due meanwhile fifty are out of time and rest; the one that had been asked again stood behind them
    100  second planned=101 retries=51 error.timeout=1
    100  stop grace=0
    end  planned=101 timed_out=1 in_flight_at_end=1 never_sent=99`));
