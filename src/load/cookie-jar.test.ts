import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CookieJar } from './cookie-jar.ts';

/** Lines: `PATH < Set-Cookie` takes a cookie in, `PATH > Cookie` is what must be sent (`-`: none). */
function check(script: string): void {
  const jar = new CookieJar();
  for (const line of script.trim().split('\n')) {
    const [, path = '', direction = '', field = ''] = /^\s*(\S+)\s+([<>]) (.*)$/.exec(line) ?? assert.fail(line);
    if (direction === '<') jar.take(field, path);
    else assert.equal(jar.field(path) ?? '-', field, line);
  }
}

test('a cookie is sent back, the newest value of each name', () =>
  check(`
    /      > -
    /login < session=a1; Path=/; HttpOnly
    /      > session=a1
    /login < session=b2; Path=/
    /login < theme=dark; Path=/; Secure; SameSite=Lax
    /      > session=b2; theme=dark`));

test('a cookie keeps to its path, the longer path first', () =>
  check(`
    /a/b/c < deep=1
    /a/x   < top=2; Path=/
    /a/b   > deep=1; top=2
    /a/b/z?q=1 > deep=1; top=2
    /a/bc  > top=2`));

test('a cookie is taken away by Max-Age or by an Expires of long ago', () =>
  check(`
    / < a=1
    / < b=2
    / < a=; Max-Age=0
    / > b=2
    / < b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT
    / > -
    / < c=3; Max-Age=3600; Expires=Wed, 21 Oct 2065 07:28:00 GMT
    / > c=3`));

test('what is not a cookie is ignored, and so is the fifty-first', () => {
  check(`
    / < nonsense
    / < =x
    / > -`);
  const jar = new CookieJar();
  for (let count = 0; count < 60; count++) jar.take(`c${count}=x`, '/');
  assert.equal(jar.size, 50);
});

test('a value may hold an equals sign', () =>
  check(`
    / < token=YWJj==; Path=/
    / > token=YWJj==`));
