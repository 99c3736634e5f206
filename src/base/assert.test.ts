import { test } from 'node:test';
import nodeAssert from 'node:assert/strict';
import { assert, AssertionError, unreachable } from './assert.ts';

test('a broken assertion says what should have held', () => {
  const check = (index: number): void => assert(index < 3, 'pick within the fleet');
  check(2);
  nodeAssert.throws(() => check(3), new AssertionError('pick within the fleet'));
});

test('a case that the compiler thought impossible stops the program and shows the value', () => {
  type Colour = 'red' | 'green';
  const isRed = (colour: Colour): boolean => {
    switch (colour) {
      case 'red':
        return true;
      case 'green':
        return false;
      default:
        return unreachable(colour, 'a colour');
    }
  };
  const fromOutside = JSON.parse('"purple"') as Colour;
  nodeAssert.throws(() => isRed(fromOutside), /^AssertionError: a colour: purple$/);
});
