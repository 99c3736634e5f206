import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBody } from './extract.ts';
import { template } from './template.ts';

const json = (path: string, body: string): string | undefined => fromBody({ variable: 'x', from: 'json', path }, body);
const text = (after: string, before: string, body: string): string | undefined =>
  fromBody({ variable: 'x', from: 'text', after, before }, body);

test('a path leads into JSON, through lists too', () => {
  assert.equal(json('items.1.id', '{"items":[{"id":1},{"id":"b7"}]}'), 'b7');
  assert.equal(json('total', '{"total":12.5}'), '12.5');
  assert.equal(json('ok', '{"ok":true}'), 'true');
});

test('a path that leads nowhere, or to something that is not a value, gives none', () => {
  for (const path of ['none', 'items.9', 'items', 'items.0.id.more', '__proto__', 'items.length.x']) {
    assert.equal(json(path, '{"items":[{"id":1}]}'), undefined, path);
  }
  assert.equal(json('a', 'not json'), undefined);
  assert.equal(json('a', 'null'), undefined);
});

test('a text between two others is found where it first occurs', () => {
  assert.equal(text('csrf="', '"', '<input name=csrf="t0k"><input csrf="other">'), 't0k');
  assert.equal(text('id=', '', 'id=77'), '77');
  assert.equal(text('id=', ';', 'id=77'), undefined);
  assert.equal(text('missing', ';', 'id=77;'), undefined);
});

test('a template names each variable once and is filled from what is known', () => {
  const cart = template('/cart/${id}/items/${item}?again=${id}');
  assert.deepEqual(cart.variables, ['id', 'item']);
  assert.equal(
    cart.filledWith(
      new Map([
        ['id', '7'],
        ['item', 'b'],
      ]),
    ),
    '/cart/7/items/b?again=7',
  );
  assert.equal(cart.filledWith(new Map([['id', '7']])), undefined);
  assert.deepEqual(template('/plain$5${').variables, []);
  assert.equal(template('/plain$5${').filledWith(new Map()), '/plain$5${');
});
