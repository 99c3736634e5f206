import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { plant, uproot } from './plant.ts';
import { openTree } from './tree.ts';

const files = {
  '.gitignore': 'node_modules/\ndist/\n',
  'README.md': '# planted',
  'src/base.ts': 'export {};',
  'dist/built.js': '',
  'node_modules/left/index.js': '',
};
const expected = ['.gitignore', 'README.md', 'src/base.ts'];

after(uproot);

test('without git, a tree is what no ignore rule keeps out', () => {
  const tree = openTree(plant(files));
  assert.deepEqual(tree.files, expected);
  assert.equal(tree.read('README.md'), '# planted');
  assert.equal(tree.has('src/base.ts'), true);
  assert.equal(tree.has('dist/built.js'), false);
});

test('with git, a tree is what is tracked or would be, and is still there', () => {
  const root = plant({ ...files, 'gone.md': '', 'new.md': '' });
  const git = (...words: string[]): void => {
    execFileSync('git', words, { cwd: root, stdio: 'pipe' });
  };
  git('init', '--quiet');
  git('add', '.gitignore', 'README.md', 'src', 'gone.md');
  execFileSync('rm', ['gone.md'], { cwd: root });
  assert.deepEqual(openTree(root).files, [...expected, 'new.md'].toSorted());
});

test('a folder inside a foreign repository is walked, since that repository knows nothing of it', () => {
  const root = plant(files);
  execFileSync('git', ['init', '--quiet'], { cwd: root, stdio: 'pipe' });
  assert.deepEqual(openTree(`${root}/src`).files, ['base.ts']);
});
