import { suite, test } from 'node:test';
import { checkAllowed, checkCaught, checkRepository } from './rule.ts';
import { checkWords } from './words.ts';

test('no file of the repository tells where it was written', () => {
  checkRepository(checkWords);
});

test('system paths, addresses on the web and ordinary words are allowed', () => {
  checkAllowed(checkWords, {
    'docs/a.md':
      '/proc/self/limits, /tmp/x, https://example.org/home/page, ~/work/x, the root/trunk, an issue of trust',
    'src/a.ts': "const path = '/etc/haproxy';",
  });
});

suite('planted breaches', () => {
  // The breaches are put together here, so that this file breaks no rule itself.
  const breaches: readonly (readonly [name: string, text: string, words: RegExp])[] = [
    ['a home folder', ['see ', 'home', 'ann', 'x.log'].join('/'), /somebody’s machine/],
    ['the administrator’s folder', ["'", 'root', '.npmrc'].join('/'), /somebody’s machine/],
    ['a folder beside the repository', ['..', 'shared', 'x.md'].join('/'), /copy in/],
    ['a registry', ['https://registry', 'npmjs', 'org'].join('.'), /npm knows/],
    ['a number in a tracker', ['issue', '17'].join(' '), /stands by itself/],
  ];
  for (const [name, text, words] of breaches) {
    test(name, () => checkCaught(checkWords, { 'docs/a.md': `fine\n${text}` }, 'docs/a.md:2', words));
  }

  test('where a package came from', () => {
    checkCaught(checkWords, { 'package-lock.json': '{\n"resolved": ""}' }, 'package-lock.json:2', /omit-lockfile/);
  });
});
