// Byte streams that programs have been known to read in two ways: request smuggling, desynchronisation, normalisation. Written
// for this project after the rules of RFC 9112 and the classes of bugs that differential testing of servers has found. `status`
// is what the sender must get; undefined: the stream has one meaning, and `seen` is what an endpoint must be shown of it.

export interface Vector {
  readonly name: string;
  readonly bytes: string;
  readonly status: number | undefined;
  /** Body that the endpoint must see, where the request is passed on. */
  readonly body?: string;
}

const post = (fields: string, body = ''): string => `POST / HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n${body}`;
const chunked = (body: string): string => post('Transfer-Encoding: chunked', body);
const get = (fields: string): string => `GET / HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n`;
const refused = (name: string, bytes: string, status = 400): Vector => ({ name, bytes, status });
const passed = (name: string, bytes: string, body = ''): Vector => ({ name, bytes, status: undefined, body });

export const vectors: readonly Vector[] = [
  // The size of a chunk.
  refused('chunk size 0x2', chunked('0x2\r\nab\r\n0\r\n\r\n')),
  refused('chunk size 0x2e', chunked('0x2e\r\nab\r\n0\r\n\r\n')),
  refused('chunk size 0_2', chunked('0_2\r\nab\r\n0\r\n\r\n')),
  refused('chunk size +2', chunked('+2\r\nab\r\n0\r\n\r\n')),
  refused('chunk size -2', chunked('-2\r\nab\r\n0\r\n\r\n')),
  refused('chunk size after a space', chunked(' 2\r\nab\r\n0\r\n\r\n')),
  refused('chunk size before a tab and junk', chunked('2\tx\r\nab\r\n0\r\n\r\n')),
  refused('chunk size of no digits', chunked('\r\nab\r\n0\r\n\r\n')),
  refused('chunk size of letters', chunked('zz\r\nab\r\n0\r\n\r\n')),
  refused('chunk size beyond 64 bits', chunked('10000000000000002\r\nab\r\n0\r\n\r\n')),
  refused('chunk size that wraps at 32 bits', chunked('fffffffffffffffff\r\nab\r\n0\r\n\r\n')),
  refused('chunk size 2 with a dot', chunked('2.0\r\nab\r\n0\r\n\r\n')),
  refused('chunk size 2 and a semicolon without a name', chunked('2;\r\nab\r\n0\r\n\r\n')),
  refused('chunk size 2 and a space at the end', chunked('2 \r\nab\r\n0\r\n\r\n')),
  passed('chunk size with leading zeros', chunked('0002\r\nab\r\n0\r\n\r\n'), 'ab'),
  passed('chunk size in capitals', chunked('A\r\n0123456789\r\n0\r\n\r\n'), '0123456789'),
  passed('a chunk with an extension', chunked('2;a=b\r\nab\r\n0\r\n\r\n'), 'ab'),
  passed('a last chunk of several zeros', chunked('2\r\nab\r\n000\r\n\r\n'), 'ab'),

  // The end of a chunk.
  refused('a chunk that ends with a bare LF', chunked('2\r\nab\n0\r\n\r\n')),
  refused('a chunk that ends with CR and a letter', chunked('2\r\nab\rX0\r\n\r\n')),
  refused('a chunk with two bytes too many', chunked('2\r\nabcd\r\n0\r\n\r\n')),
  refused('a chunk size line with a bare LF', chunked('2\nab\r\n0\r\n\r\n')),
  refused('a bare CR in a chunk extension', chunked('2;a\rb\r\nab\r\n0\r\n\r\n')),
  refused('a bare LF in a chunk extension', chunked('2;a\nGET / HTTP/1.1\r\nab\r\n0\r\n\r\n')),
  refused('a bare CR in the space before an extension', chunked('2 \r ;a\r\nab\r\n0\r\n\r\n')),
  refused('a chunk that ends with CR LF and two letters', chunked('2\r\nab\r\nXX0\r\n\r\n')),
  refused('a chunk that ends with CR CR LF', chunked('2\r\nab\r\r\n0\r\n\r\n')),
  refused('an empty line before the last chunk', chunked('2\r\nab\r\n\r\n0\r\n\r\n')),
  refused('a last chunk that ends with a bare LF', chunked('2\r\nab\r\n0\n\n')),

  // Content-Length.
  refused('Content-Length of nothing', post('Content-Length: ', 'ab')),
  refused('Content-Length +2', post('Content-Length: +2', 'ab')),
  refused('Content-Length -2', post('Content-Length: -2', 'ab')),
  refused('Content-Length 0x2', post('Content-Length: 0x2', 'ab')),
  refused('Content-Length 2_0', post('Content-Length: 2_0', 'ab')),
  refused('Content-Length 2.0', post('Content-Length: 2.0', 'ab')),
  refused('Content-Length 2 and a letter', post('Content-Length: 2a', 'ab')),
  refused('Content-Length beyond 2^53', post('Content-Length: 99999999999999999999', 'ab')),
  refused('two Content-Lengths that differ', post('Content-Length: 2\r\nContent-Length: 3', 'abc')),
  refused('an empty Content-Length before another', post('Content-Length:\r\nContent-Length: 2', 'ab')),
  refused('a list of Content-Lengths that differ', post('Content-Length: 2, 3', 'abc')),
  refused('a list of Content-Lengths with an empty element', post('Content-Length: 2,', 'ab')),
  passed('Content-Length with a leading zero is decimal', post('Content-Length: 010', '0123456789'), '0123456789'),
  passed('two equal Content-Lengths', post('Content-Length: 2\r\nContent-Length: 2', 'ab'), 'ab'),
  passed('a list of equal Content-Lengths', post('Content-Length: 2, 2', 'ab'), 'ab'),
  passed('Content-Length with spaces around', post('Content-Length:  2 ', 'ab'), 'ab'),

  // Transfer-Encoding.
  refused('both lengths', post('Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n')),
  refused('both lengths, the other way round', post('Transfer-Encoding: chunked\r\nContent-Length: 5', '0\r\n\r\n')),
  refused('an empty element before chunked', post('Transfer-Encoding: ,chunked', '0\r\n\r\n')),
  refused('chunked twice', post('Transfer-Encoding: chunked, chunked', '0\r\n\r\n')),
  refused('two fields chunked', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', '0\r\n\r\n')),
  refused('chunked, then identity', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', '0\r\n\r\n')),
  refused('chunked not last', post('Transfer-Encoding: chunked, gzip', '0\r\n\r\n')),
  refused('identity', post('Transfer-Encoding: identity', '0\r\n\r\n')),
  refused('xchunked', post('Transfer-Encoding: xchunked', '0\r\n\r\n')),
  refused('a vertical tab before chunked', post('Transfer-Encoding: \x0bchunked', '0\r\n\r\n')),
  refused('a no-break space before chunked', post('Transfer-Encoding: \xa0chunked', '0\r\n\r\n')),
  refused('a next-line character behind chunked', post('Transfer-Encoding: chunked\x85', '0\r\n\r\n')),
  refused('chunked in quotes', post('Transfer-Encoding: "chunked"', '0\r\n\r\n')),
  refused('chunked with a parameter', post('Transfer-Encoding: chunked;a=b', '0\r\n\r\n')),
  refused('gzip, chunked', post('Transfer-Encoding: gzip, chunked', '0\r\n\r\n'), 501),
  refused('an unknown coding and a length', post('Transfer-Encoding: nope\r\nContent-Length: 2', 'ab')),
  refused('a space before the colon', post('Transfer-Encoding : chunked', '0\r\n\r\n')),
  refused('Transfer-Encoding in HTTP/1.0', 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
  passed('CHUNKED in capitals', post('Transfer-Encoding: CHUNKED', '2\r\nab\r\n0\r\n\r\n'), 'ab'),
  passed('a field name in odd case', post('tRANSFER-eNCODING: chunked', '2\r\nab\r\n0\r\n\r\n'), 'ab'),

  // Lines of the head.
  refused('a space behind a name', get('X : y')),
  refused('a tab behind a name', get('X\t: y')),
  refused('no name', get(': y')),
  refused('no colon', get('X')),
  refused('NUL in a value', get('X: a\0b')),
  refused('a bare CR in a value', get('X: a\rContent-Length: 5')),
  refused('a bare LF in a value', get('X: a\nContent-Length: 5')),
  refused('a head of bare LFs', 'GET / HTTP/1.1\nHost: x\n\n'),
  refused('a folded line', get('X: a\r\n b')),
  refused('a folded line with a tab', get('X: a\r\n\tContent-Length: 5')),
  refused('a folded name', get('X\r\n Y: z')),
  refused('a folded Transfer-Encoding', post('Transfer-Encoding:\r\n chunked', '0\r\n\r\n')),
  refused('space before the first field', 'GET / HTTP/1.1\r\n X: y\r\nHost: x\r\n\r\n'),
  refused('a name with a bracket', get('X[]: y')),
  refused('a name with a byte above ASCII', get('X\xe9: y')),
  refused('a DEL in a value', get('X: a\x7fb')),
  refused('an end of head in disguise', 'GET / HTTP/1.1\r\nHost: x\r\n\rXGET /two HTTP/1.1\r\nHost: x\r\n\r\n'),
  passed('empty lines before the request', `\r\n\r\n${get('X: y')}`),
  passed('a tab within a value', get('X: a\tb')),

  // The request line.
  refused('HTTP/1.10', 'GET / HTTP/1.10\r\nHost: x\r\n\r\n'),
  refused('HTTP/257.1', 'GET / HTTP/257.1\r\nHost: x\r\n\r\n'),
  refused('HTTP/2.0', 'GET / HTTP/2.0\r\nHost: x\r\n\r\n', 505),
  refused('http/1.1', 'GET / http/1.1\r\nHost: x\r\n\r\n'),
  refused('no version', 'GET /\r\nHost: x\r\n\r\n'),
  refused('a method with a bracket', 'GE[T / HTTP/1.1\r\nHost: x\r\n\r\n'),
  refused('a method with a colon', 'GET: / HTTP/1.1\r\nHost: x\r\n\r\n'),
  refused('two spaces before the target', 'GET  / HTTP/1.1\r\nHost: x\r\n\r\n'),
  refused('a tab before the target', 'GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n'),
  refused('a space in the target', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n'),
  refused('a control character in the target', 'GET /a\x01b HTTP/1.1\r\nHost: x\r\n\r\n'),
  refused('a fragment in the target', 'GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n'),
  refused('a target without a slash', 'GET a HTTP/1.1\r\nHost: x\r\n\r\n'),
  refused('an asterisk for GET', 'GET * HTTP/1.1\r\nHost: x\r\n\r\n'),
  refused('HTTP/2’s preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505),

  // Host.
  refused('no Host', 'GET / HTTP/1.1\r\nX: y\r\n\r\n'),
  refused('two Hosts', 'GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n'),
  refused('a Host with a space', 'GET / HTTP/1.1\r\nHost: x y\r\n\r\n'),
  refused('a Host with a path', 'GET / HTTP/1.1\r\nHost: x/y\r\n\r\n'),
  refused('a Host with a user', 'GET / HTTP/1.1\r\nHost: a@x\r\n\r\n'),
  refused('a Host with a comma', 'GET / HTTP/1.1\r\nHost: x,y\r\n\r\n'),

  // Connection.
  refused('Connection names Host', get('Connection: Host')),
  refused('Connection names Content-Length', post('Connection: Content-Length\r\nContent-Length: 2', 'ab')),
  refused('Connection names X-Forwarded-For', get('Connection: close, X-Forwarded-For\r\nX-Forwarded-For: 1.2.3.4')),
];
