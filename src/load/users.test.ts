import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ms } from '../base.ts';
import { addressOf } from './dispatch.ts';
import { checkLoad, playLoad } from './testing/scripted-load.ts';

test('a user asks, reads, thinks, and goes on with the next step on the same connection', () =>
  checkLoad(`
    closed users=1 think=10 flow=/a,/b
    0     #1 asks nothing
    1     #1 opens
    1     #1 asks GET /a
    6     #1 answers 200 api-1
    15.9  #1 asks nothing
    16    #1 asks GET /b
    20    #1 answers 200 api-2
    30    #1 asks GET /a
    30    connections 1
    31    #1 answers 200 api-1
    31    stop grace=5
    end   planned=3 answered=3`));

test('without a think time the next request is due with the answer', () =>
  checkLoad(`
    closed users=1
    0   #1 opens
    0   #1 asks GET /
    5   #1 answers 200 api-1
    5   #1 asks GET /
    7   #1 answers 200 api-1
    7   #1 asks GET /
    7   stop grace=1
    end planned=3 answered=2 in_flight_at_end=1`));

test('users with a think time start spread over it, each on a connection of its own', () =>
  checkLoad(`
    closed users=2 think=10
    0   connections 1
    5   connections 2
    5   #1 opens
    5   #2 opens
    5   #1 asks GET /
    5   #2 asks GET /
    5   stop grace=1
    end planned=2 in_flight_at_end=2`));

test('a request is due when the user has thought, though the alarm is late: the lag says so', () =>
  checkLoad(
    `
    closed users=1 think=10
    0     #1 opens
    0     #1 asks GET /
    2     #1 answers 200 api-1
    2     second sent=1 lag=0
    12.8  #1 asks nothing
    13    #1 asks GET /
    20    #1 answers 200 api-1
    -- due at 12, sent at 13
    20    second p50=8 lag=1
    20    stop grace=1
    end   planned=2 answered=2`,
    { alarmLateness: ms(1) },
  ));

test('a user whom nobody lets in rests before knocking again', () =>
  checkLoad(`
    closed users=1
    1      #1 refuses
    1      connections 0
    100.9  connections 0
    101    connections 1
    101    #2 opens
    101    #2 asks GET /
    103    #2 answers 200 api-1
    103    stop grace=0
    end    planned=3 answered=1 failed=1 in_flight_at_end=1`));

test('whoever has waited too long leaves, closes the connection, and comes back on a new one', () =>
  checkLoad(`
    closed users=1 timeout=50
    0   #1 opens
    0   #1 asks GET /
    49  connections 1
    50  #1 is closed
    50  second error.timeout=1 answered=0
    51  #2 opens
    51  #2 asks GET /
    -- too late: it was given up
    55  #1 answers 200 api-1
    60  #2 answers 200 api-1
    60  stop grace=0
    end planned=3 answered=1 timed_out=1 never_sent=0 in_flight_at_end=1`));

test('each request has its own deadline, though nothing new comes due in between', () =>
  checkLoad(`
    closed users=2 think=20 timeout=50
    0   #1 opens
    10  #2 opens
    50  second error.timeout=1
    60  second error.timeout=1
    60  #2 is closed
    60  stop grace=0
    end planned=2 timed_out=2`));

test('a connection that never opens is a timeout too', () =>
  checkLoad(`
    closed users=1 timeout=50
    50   #1 is closed
    50   second error.timeout=1 sent=0
    150  connections 1
    150  stop grace=0
    end  planned=2 timed_out=1 never_sent=1`));

test('an answer that ends its connection is an answer', () =>
  checkLoad(`
    closed users=1
    0   #1 opens
    0   #1 asks GET /
    3   #1 answers 200 api-1 close
    3   #1 is closed
    3   #2 opens
    3   #2 asks GET /
    4   stop grace=0
    end planned=2 answered=1 in_flight_at_end=1`));

test('a connection that closes while its user thinks costs nothing', () =>
  checkLoad(`
    closed users=1 think=10
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200 api-1
    5   #1 hangs up
    11  #2 opens
    11  #2 asks GET /
    12  #2 answers 200 api-1
    12  second answered=2 error.closed=0
    12  stop grace=0
    end planned=2 answered=2`));

test('each way to fail has its name', () =>
  checkLoad(`
    closed users=1 think=10
    0   #1 opens
    0   #1 asks GET /
    1   #1 hangs up
    1   second error.closed=1
    11  #2 opens
    11  #2 asks GET /
    12  #2 resets
    12  second error.reset=1
    22  #3 opens
    22  #3 asks GET /
    23  #3 says HTTP/1.1 200 OK\\r\\nContent-Length: 10\\r\\n\\r\\nhalf
    24  #3 hangs up
    24  second error.truncated=1
    34  #4 opens
    34  #4 asks GET /
    35  #4 says SSH-2.0-OpenSSH_9.9\\r\\n
    35  second error.bad-response=1
    45  #5 opens
    45  #5 asks GET /
    46  #5 answers 503 api-1
    46  second error.status-5xx=1 answered=0 by.api-1=1
    56  #5 asks GET /
    57  #5 answers 404 api-1
    57  second error.status-4xx=1 answered=0 by.api-1=1
    57  stop grace=0
    end planned=6 failed=6`));

test('a body that ends with its connection is whole', () =>
  checkLoad(`
    closed users=1 think=10
    0   #1 opens
    0   #1 asks GET /
    1   #1 says HTTP/1.1 200 OK\\r\\n\\r\\nas long as it takes
    2   #1 hangs up
    2   second answered=1 error.truncated=0
    2   stop grace=0
    end planned=1 answered=1`));

test('what comes after an answer is not taken for the next one', () =>
  checkLoad(`
    closed users=1
    0   #1 opens
    0   #1 asks GET /
    1   #1 says HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\nHTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n
    1   #1 is closed
    1   second answered=1
    1   #2 opens
    1   #2 asks GET /
    2   stop grace=0
    end planned=2 answered=1 in_flight_at_end=1`));

test('an answer without the header counts for its target', () =>
  checkLoad(`
    closed users=1 think=10 targets=store
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200
    1   second by.store=1
    1   stop grace=0
    end planned=1 answered=1`));

test('a registry client that picks the first goes nowhere else; a fair one takes turns', async () => {
  await checkLoad(`
    closed users=1 think=10 targets=api-1,api-2 choice=pick-first
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200
    11  #1 asks GET /
    12  #1 answers 200
    12  second by.api-1=2 by.api-2=0
    12  stop grace=0
    end planned=2 answered=2`);
  await checkLoad(`
    closed users=1 think=10 targets=api-1,api-2 choice=round-robin
    0   #1 opens
    0   #1 asks GET /
    1   #1 answers 200
    11  #2 opens
    11  #2 asks GET /
    12  #2 answers 200
    22  #1 asks GET /
    23  #1 answers 200
    33  #2 asks GET /
    34  #2 answers 200
    34  second by.api-1=2 by.api-2=2
    34  stop grace=0
    end planned=4 answered=4`);
});

test('what came due in the warm-up stays there, however late it is answered', () =>
  checkLoad(`
    closed users=2 think=100
    0    #1 opens
    0    #1 asks GET /
    50   #2 opens
    50   #2 asks GET /
    60   measure
    70   #1 answers 200 api-1
    70   second answered=1
    80   #2 answers 200 api-1
    170  #1 asks GET /
    175  #1 answers 200 api-1
    175  stop grace=10
    end  planned=1 answered=1`));

test('after the stop nobody begins again, and answers within the grace count', () =>
  checkLoad(`
    closed users=2
    0   #1 opens
    0   #2 opens
    1   stop grace=10
    5   #1 answers 200 api-1
    5   #1 asks GET /
    8   #1 asks nothing
    end planned=2 answered=1 in_flight_at_end=1`));

test('bytes of whole answers are counted, and who answered is forgotten with the next answer', async () => {
  const { totals, replicas } = await playLoad(`
    closed users=1
    0   #1 opens
    1   #1 says HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nX-Plimsoll-Replica: api-1\\r\\n\\r\\nok
    2   #1 says HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n
    2   stop grace=0`);
  assert.equal(totals[0]?.bytes, 67 + 38);
  assert.deepEqual(
    replicas.map(({ id, finished }) => [id, finished]),
    [
      ['gateway', 1],
      ['api-1', 1],
    ],
  );
});

test('a target behind TLS is asked for as one, and HTTP/1.1 is what is agreed on', () => {
  const { host, port, tls } = addressOf({
    id: 'shop',
    host: '10.0.0.1',
    port: 443,
    tls: { serverName: 'shop.example' },
  });
  assert.deepEqual(
    { host, port, tls },
    { host: '10.0.0.1', port: 443, tls: { alpn: ['http/1.1'], serverName: 'shop.example' } },
  );
});
