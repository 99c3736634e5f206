// The rules of RFC 9112 and the tricks of those who live off readers that disagree, as tables. `>` is what comes over the
// wire, with \r \n \t \xNN written out; `=` is what must be made of it; `#` says why. Every case is read whole, cut at every
// byte into two, and byte by byte: all must give the same.
//
// Long because it is a table of cases.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Limits } from './events.ts';
import { cut, type Reading, readRequests, readResponses } from './testing/transcript.ts';

test('request lines', () => {
  requests(String.raw`
    > GET / HTTP/1.1\r\nHost: x\r\n\r\n
    = GET / 1.1 | end
    > GET / HTTP/1.0\r\n\r\n
    = GET / 1.0 close | end
    # a token is a method, whatever it is
    > M-SEARCH /a?b=c|d HTTP/1.1\r\nHost: x\r\n\r\n
    = M-SEARCH /a?b=c|d 1.1 | end
    # RFC 9112 2.2: empty lines before a request are skipped, but not without end
    > \r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n
    = GET / 1.1 | end
    > \r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    # RFC 9110 2.5: a higher minor version is read as the highest we know
    > GET / HTTP/1.9\r\nHost: x\r\n\r\n
    = GET / 1.1 | end
    > GET / HTTP/1.10\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET / HTTP/257.1\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET / HTTP/11\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET / http/1.1\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET / HTTP/2.0\r\nHost: x\r\n\r\n
    = !bad-version 505
    > GET / HTTP/0.9\r\nHost: x\r\n\r\n
    = !bad-version 505
    # HTTP/2's preface, sent to a server that does not speak it
    > PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n
    = !bad-version 505
    # HTTP/0.9: no version at all
    > GET /\r\n
    = !bad-start-line 400
    > G(T / HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > \x16\x03\x01\x02\x00\x01
    = !bad-start-line 400
    > GET  / HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET / HTTP/1.1 \r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET /a b HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET /a\x00b HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET /a\x7fb HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET /a\xe9 HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    # a fragment is not sent; who cuts it off sees another target than who does not
    > GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET / HTTP/1.1\nHost: x\r\n\r\n
    = !bad-start-line 400
    > GET / HTTP/1.1\rHost: x\r\n\r\n
    = !bad-start-line 400
    > GET / HTTP/1.1\r\r\nHost: x\r\n\r\n
    = !bad-start-line 400
    # white space before the first field
    > GET / HTTP/1.1\r\n Host: x\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\n\tX: y\r\nHost: x\r\n\r\n
    = !bad-field 400
  `);
});

test('request targets come in four forms, and each only where it belongs', () => {
  requests(String.raw`
    > GET http://a.example:8080/b?c HTTP/1.1\r\nHost: other\r\n\r\n
    = GET http://a.example:8080/b?c 1.1 | end
    > GET HTTPS://[::1]:443 HTTP/1.1\r\nHost: x\r\n\r\n
    = GET HTTPS://[::1]:443 1.1 | end
    > GET http:///b HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-target 400
    > GET http://user@a/ HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-target 400
    > GET ftp://a/ HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-target 400
    > GET http:/a HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-target 400
    > GET a.example HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-target 400
    > OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n
    = OPTIONS * 1.1 | end
    > GET * HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-target 400
    > OPTIONS ** HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-target 400
    > CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n
    = CONNECT a.example:443 1.1 | end
    > CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: x\r\n\r\n
    = CONNECT [2001:db8::1]:443 1.1 | end
    > CONNECT a.example HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-target 400
    > CONNECT a.example: HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-target 400
    > CONNECT /a HTTP/1.1\r\nHost: x\r\n\r\n
    = !bad-target 400
    > CONNECT a.example:443 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello
    = !smuggling 400
  `);
});

test('an HTTP/1.1 request names exactly one host', () => {
  requests(String.raw`
    > GET / HTTP/1.1\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.0\r\nHost: a\r\nhOST: b\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n
    = GET / 1.1 | end
    > GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n
    = GET / 1.1 | end
    > GET / HTTP/1.1\r\nHost: [2001:DB8:aF::127.0.0.1]\r\n\r\n
    = GET / 1.1 | end
    > GET / HTTP/1.1\r\nHost: [fe80::g]\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost:\r\n\r\n
    = GET / 1.1 | end
    > GET / HTTP/1.1\r\nHost: a b\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: a, b\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: a,b\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: a/b\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: user@a\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: a:x\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: a:80:80\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: a:123456\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: [::1\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: []\r\n\r\n
    = !bad-host 400
    > GET / HTTP/1.1\r\nHost: :80\r\n\r\n
    = !bad-host 400
  `);
});

test('field lines', () => {
  requests(String.raw`
    > GET / HTTP/1.1\r\nHost: x\r\nX:   spaces and \t tabs \t \r\nY:\r\n\r\n
    = GET / 1.1 | end
    # obs-text is kept
    > GET / HTTP/1.1\r\nHost: x\r\nX: caf\xe9\r\n\r\n
    = GET / 1.1 | end
    > GET / HTTP/1.1\r\nHost : x\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\nX\t: y\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\nnocolon\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\nX: a\nY: b\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\nX: a\x0bb\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\nX: a\x7f\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\nX\xa0: y\r\n\r\n
    = !bad-field 400
    # obs-fold
    > GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n
    = !bad-field 400
    # the empty line is CRLF and nothing else
    > GET / HTTP/1.1\r\nHost: x\r\n\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\n\r\rX\n
    = !bad-field 400
    > GET / HTTP/1.1\r\nHost: x\r\n\rX: y\r\n\r\n
    = !bad-field 400
    > GET / HTTP/1.1\nHost: x\n\n
    = !bad-start-line 400
  `);
});

test('content lengths', () => {
  requests(String.raw`
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello
    = POST / 1.1 len=5 | "hello" | end
    > POST / HTTP/1.1\r\nHost: x\r\ncontent-length:0\r\n\r\n
    = POST / 1.1 len=0 | end
    > GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: x\r\n\r\n
    = GET / 1.1 len=5 | "hello" | end | GET / 1.1 | end
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n\r\nhello
    = POST / 1.1 len=5 | "hello" | end
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello
    = POST / 1.1 len=5 | "hello" | end
    # a leading zero is a zero, not a sign of octal
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 010\r\n\r\n0123456789
    = POST / 1.1 len=10 | "0123456789" | end
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 6\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nContent-Length: 5\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\nContent-Length: 5\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length:\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5,\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ,5\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5_0\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5 0\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5.0\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5e0\r\n\r\nhello
    = !bad-length 400
    # 2^53 - 1 is a length (of which nothing has come), 2^53 is none; nor is what wraps around to a small number
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9007199254740991\r\n\r\n
    = POST / 1.1 len=9007199254740991 | !truncated 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9007199254740992\r\n\r\n
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551621\r\n\r\nhello
    = !bad-length 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel
    = POST / 1.1 len=5 | "hel" | !truncated 400
  `);
});

test('transfer codings', () => {
  requests(String.raw`
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n
    = POST / 1.1 chunked | "hello" | end
    > POST / HTTP/1.1\r\nHost: x\r\ntransfer-ENCODING: \t cHuNkEd \r\n\r\n0\r\n\r\n
    = POST / 1.1 chunked | end
    # white space to the RFC, part of the coding to some
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\t \r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n
    = !smuggling 400
    # an unknown coding does not make the length trustworthy
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: xchunked\r\n\r\nhello
    = !smuggling 400
    > POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked,\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\x0b\r\n\r\n0\r\n\r\n
    = !bad-field 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\xa0\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \x85chunked\r\n\r\n0\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n
    = !unsupported-coding 501
    > POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n
    = !unsupported-coding 501
  `);
});

test('chunks', () => {
  chunks(String.raw`
    > 5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n
    = "hello world" | end
    > A\r\n0123456789\r\n00a\r\n0123456789\r\n000\r\n\r\n
    = "01234567890123456789" | end
    > 5;a;b=c;d="e \" f"\r\nhello\r\n0;x\r\n\r\n
    = "hello" | end
    > 0x2\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 0_2\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > +2\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > -2\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > \x202\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2 \r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2\t\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2;\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2;a=\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2;a="b\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2;a="b"c\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2 ;a\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2; a\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2;\ra\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2;a\nb\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2;a\x00\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > \r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2\rXab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 2\r\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    # data that ends in anything but CRLF
    > 2\r\nab\n0\r\n\r\n
    = "ab" | !bad-chunk 400
    > 2\r\nab\rX0\r\n\r\n
    = "ab" | !bad-chunk 400
    > 2\r\nab0\r\n\r\n
    = "ab" | !bad-chunk 400
    > 2\r\nabXX0\r\n\r\n
    = "ab" | !bad-chunk 400
    > 2\r\nab\r\nXX0\r\n\r\n
    = "ab" | !bad-chunk 400
    > 2\r\nab\r\n\r\n0\r\n\r\n
    = "ab" | !bad-chunk 400
    # sixteen digits and 2^53 - 1 are the last that are a number here
    > 001fffffffffffff\r\n
    = !truncated 400
    > 0020000000000000\r\n
    = !bad-chunk 400
    > 00000000000000002\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > ffffffffffffffff\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    > 10000000000000002\r\nab\r\n0\r\n\r\n
    = !bad-chunk 400
    # what ends too early
    > 2\r\nab\r\n
    = "ab" | !truncated 400
    > 2\r\na
    = "a" | !truncated 400
    > 0\r\n
    = !truncated 400
  `);
});

test('trailers are read, bounded, and robbed of what must not come late', () => {
  chunks(String.raw`
    > 0\r\nX-Sum: 12\r\nY:\r\n\r\n
    = trailer X-Sum=12 | trailer Y= | end
    > 2\r\nab\r\n0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\nHost: y\r\nSET-cookie: a\r\nX: y\r\n\r\n
    = "ab" | trailer X=y | end
    > 0\r\nContent-Type: text/plain\r\n\r\n
    = end
    > 0\r\nX : y\r\n\r\n
    = !bad-field 400
    > 0\r\n X: y\r\n\r\n
    = !bad-field 400
    > 0\r\nX: y\n\r\n
    = !bad-field 400
  `);
  // Three bytes of `X: `, 34 of value, CRLF and the empty line: 41.
  chunks(
    String.raw`
    > 0\r\nX: 0123456789012345678901234567890123\r\n\r\n
    = trailer X=0123456789012345678901234567890123 | end
    > 0\r\nX: 01234567890123456789012345678901234\r\n\r\n
    = !trailer-too-large 431
    > 0\r\nX: 01234567890123456789012345678901234567890123456789
    = !trailer-too-large 431
  `,
    { maxTrailerBytes: 41 },
  );
});

test('persistence, expectations and upgrades', () => {
  requests(String.raw`
    > GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n
    = GET / 1.1 close | end
    > GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, CLOSE\r\nConnection: keep-alive\r\n\r\n
    = GET / 1.1 close | end
    > GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n
    = GET / 1.0 | end
    # not the coding or the length, nor who is asked for or by whom: those are not for one hop
    > GET / HTTP/1.1\r\nHost: x\r\nConnection: close, host\r\n\r\n
    = !smuggling 400
    > POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: Content-Length\r\n\r\n
    = !smuggling 400
    > GET / HTTP/1.1\r\nHost: x\r\nConnection: X-Forwarded-For\r\n\r\n
    = !smuggling 400
    > PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\na
    = PUT / 1.1 len=1 expects-continue | "a" | end
    > PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na
    = PUT / 1.0 len=1 close | "a" | end
    > GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n
    = GET / 1.1 upgrade=websocket | end
    > GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade:\r\n\r\n
    = GET / 1.1 | end
    > GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n
    = GET / 1.1 | end
    > GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n
    = GET / 1.0 close | end
  `);
});

test('requests in a row are read in a row, up to the first bad one', () => {
  requests(String.raw`
    > GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n
    = GET /a 1.1 | end | GET /b 1.1 | end
    > POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n
    = POST /a 1.1 len=2 | "ab" | end | GET /b 1.1 | end
    > GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost : x\r\n\r\nGET /c HTTP/1.1\r\nHost: x\r\n\r\n
    = GET /a 1.1 | end | !bad-field 400
    # a body that nobody announced is the next request, and not a good one
    > GET /a HTTP/1.1\r\nHost: x\r\n\r\n\x00\x00
    = GET /a 1.1 | end | !bad-start-line 400
    > GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET
    = GET /a 1.1 | end | !truncated 400
    > GET /a HTTP/1.1\r\nHost: x\r\n\r\n\r\n
    = GET /a 1.1 | end
  `);
});

test('limits hold at the byte', () => {
  // `GET / HTTP/1.1`, `Host: x`, `X: yyyy` and the empty line are 36 bytes.
  const limits = { maxHeadBytes: 36, maxUriBytes: 5, maxHeaders: 2 };
  requests(
    String.raw`
    > GET /abcd HTTP/1.1\r\nHost: x\r\n\r\n
    = GET /abcd 1.1 | end
    > GET /abcde HTTP/1.1\r\nHost: x\r\n\r\n
    = !uri-too-long 414
    > GET / HTTP/1.1\r\nHost: x\r\nX: yyyy\r\n\r\n
    = GET / 1.1 | end
    > GET / HTTP/1.1\r\nHost: x\r\nX: yyyyy\r\n\r\n
    = !head-too-large 431
    > GET / HTTP/1.1\r\nHost: x\r\nX: yyyyyyyyyyyyyyyyyyy
    = !head-too-large 431
    > GET / HTTP/1.1\r\nHost: x\r\nX: y\x01yyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n\r\n
    = !head-too-large 431
    > GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    = !uri-too-long 414
    > GET / HTTP/1.0\r\nA:\r\nB:\r\n\r\n
    = GET / 1.0 close | end
    > GET / HTTP/1.0\r\nA:\r\nB:\r\nC:\r\n\r\n
    = !head-too-large 431
  `,
    limits,
  );
  chunks(
    String.raw`
    > 1;abc\r\na\r\n1;abc\r\nb\r\n0\r\n\r\n
    = "ab" | end
    > 1;abc\r\na\r\n1;abcd\r\nb\r\n0\r\n\r\n
    = "a" | !bad-chunk 413
  `,
    { maxChunkExtensionBytes: 8 },
  );
});

test('status lines', () => {
  responses(String.raw`
    > HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab
    = 200 OK 1.1 len=2 | "ab" | end
    > HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n
    = 200  1.1 len=0 | end
    # RFC 9112 4: the space belongs there; without it nothing can be mistaken
    > HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n
    = 200  1.1 len=0 | end
    > HTTP/1.1 299 Caf\xe9 au lait\r\nContent-Length: 0\r\n\r\n
    = 299 Café au lait 1.1 len=0 | end
    > HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n
    = 999 X 1.1 len=0 | end
    > HTTP/1.1 20 OK\r\n\r\n
    = !bad-start-line 502
    > HTTP/1.1 2000 OK\r\n\r\n
    = !bad-start-line 502
    > HTTP/1.1 099 OK\r\n\r\n
    = !bad-start-line 502
    > HTTP/1.1 2x0 OK\r\n\r\n
    = !bad-start-line 502
    > HTTP/1.1  200 OK\r\n\r\n
    = !bad-start-line 502
    > HTTP/1.10 200 OK\r\n\r\n
    = !bad-start-line 502
    > HTTP/2.0 200 OK\r\n\r\n
    = !bad-version 502
    > HTTP/1.1\r\n\r\n
    = !bad-start-line 502
    > ICY 200 OK\r\n\r\n
    = !bad-start-line 502
    > SSH-2.0-OpenSSH_9.2
    = !bad-start-line 502
    > \r\nHTTP/1.1 200 OK\r\n\r\n
    = !bad-start-line 502
    > HTTP/1.1 200 O\x00K\r\n\r\n
    = !bad-start-line 502
    > HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n
    = !bad-start-line 502
    > HTTP/1.1 200 OK\r\rContent-Length: 0\r\n\r\n
    = !bad-start-line 502
    > HTT
    = !truncated 502
  `);
});

test('how long a response is', () => {
  responses(String.raw`
    > HTTP/1.1 200 OK\r\n\r\nuntil the end
    = 200 OK 1.1 close | "until the end" | end
    > HTTP/1.1 200 OK\r\n\r\n
    = 200 OK 1.1 close | end
    > HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nabc
    = 200 OK 1.0 close | "abc" | end
    > HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc
    = 200 OK 1.0 len=3 | "abc" | end
    > HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n
    = 200 OK 1.1 chunked | "abc" | trailer X=y | end
    > HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n
    = 204 No Content 1.1 len=5 | end
    > HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n
    = 304 Not Modified 1.1 chunked | end
    > HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc
    = 200 OK 1.1 len=5 | "abc" | !truncated 502
    > HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n
    = 200 OK 1.1 chunked | "abc" | !truncated 502
    > HTTP/1.1 200 OK\r\nContent-Len
    = !truncated 502
    > HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n
    = !smuggling 502
    > HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n
    = !smuggling 502
    > HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n
    = !smuggling 502
    > HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc
    = !unsupported-coding 502
    > HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n
    = !unsupported-coding 502
    > HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n
    = !smuggling 502
    > HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello
    = !bad-length 502
    > HTTP/1.1 204 No Content\r\nContent-Length: x\r\n\r\n
    = !bad-length 502
    # RFC 9112 5.1: white space before the colon is taken away from responses
    > HTTP/1.1 200 OK\r\nContent-Length \t: 2\r\n\r\nab
    = 200 OK 1.1 len=2 | "ab" | end
    > HTTP/1.1 200 OK\r\n : 2\r\n\r\n
    = !bad-field 502
    > HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n
    = !bad-field 502
  `);
});

test('a response means what its request made it mean', () => {
  responses(
    String.raw`
    > HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n
    = 200 OK 1.1 len=5 | end
    > HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n
    = 200 OK 1.1 chunked | end
    > HTTP/1.1 200 OK\r\n\r\n
    = 200 OK 1.1 | end
    # a body where none may be is the answer to a request that was never sent
    > HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello
    = 200 OK 1.1 len=5 | end | !unsolicited 502
  `,
    ['HEAD'],
  );
  responses(
    String.raw`
    > HTTP/1.1 200 OK\r\n\r\ntunnel
    = 200 OK 1.1 | end +6
    > HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\ntunnel
    = 204 No Content 1.1 len=3 | end +6
    > HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno
    = 403 Forbidden 1.1 len=2 | "no" | end
  `,
    ['CONNECT'],
  );
  responses(
    String.raw`
    > HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nb
    = 200 OK 1.1 len=1 | "a" | end | 200 OK 1.1 len=5 | end | 404 Not Found 1.1 len=1 | "b" | end
  `,
    ['GET', 'HEAD', 'POST'],
  );
  responses(
    String.raw`
    > HTTP/1.1 200 OK\r\n\r\n
    = !unsolicited 502
  `,
    [],
  );
});

test('interim responses come before the answer, and only so many', () => {
  responses(
    String.raw`
    > HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n
    = 100 Continue interim | 103 Early Hints interim | 200 OK 1.1 len=0 | end
    # no body, whatever it says
    > HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n
    = 100 Continue interim | 200 OK 1.1 len=0 | end
    > HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n
    = 100 Continue interim | 100 Continue interim | !head-too-large 502
    > HTTP/1.1 100 Continue\r\n\r\n
    = 100 Continue interim | !truncated 502
    > HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nother
    = !unsolicited 502
  `,
    ['GET'],
    { maxInformation: 2 },
  );
  responses(
    String.raw`
    > HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nother
    = 101 Switching Protocols 1.1 | end +5
    > HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab
    = 200 OK 1.1 len=2 | "ab" | end
  `,
    ['GET upgrade'],
  );
});

function requests(script: string, limits: Partial<Limits> = {}): void {
  check(script, (pieces) => readRequests(pieces, limits));
}

/** What follows the head of a chunked request. */
function chunks(script: string, limits: Partial<Limits> = {}): void {
  const head = unescape(String.raw`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
  check(script, (pieces) => {
    const reading = readRequests([head, ...pieces], limits);
    return { ...reading, transcript: reading.transcript.replace(/^POST \/ 1.1 chunked \| /, '') };
  });
}

function responses(script: string, expected: readonly string[] = ['GET'], limits: Partial<Limits> = {}): void {
  check(script, (pieces) => readResponses(pieces, expected, limits));
}

function check(script: string, read: (pieces: readonly Uint8Array[]) => Reading): void {
  let bytes: Uint8Array | undefined;
  for (const line of script.split('\n')) {
    const text = line.trim();
    if (text.startsWith('>')) bytes = unescape(text.slice(2));
    if (!text.startsWith('=')) continue;
    assert.ok(bytes !== undefined, 'an expectation has something before it');
    assert.equal(said(read([bytes])), text.slice(2), `whole: ${escape(bytes)}`);
    assert.equal(
      said(read(Array.from(bytes, (byte) => Uint8Array.of(byte)))),
      text.slice(2),
      `byte by byte: ${escape(bytes)}`,
    );
    for (let place = 1; place < bytes.length; place++) {
      assert.equal(said(read(cut(bytes, [place]))), text.slice(2), `cut at ${place}: ${escape(bytes)}`);
    }
  }
  assert.ok(bytes !== undefined, 'a script has cases');
}

/** `+6` after the transcript: so many bytes were left alone. */
const said = (reading: Reading): string => reading.transcript + (reading.left > 0 ? ` +${reading.left}` : '');

const escape = (bytes: Uint8Array): string => JSON.stringify(Buffer.from(bytes).toString('latin1'));

function unescape(text: string): Uint8Array {
  const plain = text.replace(/\\(r|n|t|x[0-9a-f]{2})/g, (_, code: string) => {
    if (code === 'r') return '\r';
    if (code === 'n') return '\n';
    if (code === 't') return '\t';
    return String.fromCharCode(Number.parseInt(code.slice(1), 16));
  });
  return Buffer.from(plain, 'latin1');
}
