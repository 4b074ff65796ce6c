import { expect, it } from '@jest/globals';
import { counted } from '../../../operators/support/counted.ts';

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [2, '2 bytes'],
])('counts %i in words', (value, text) => {
  expect(counted(value, 'byte')).toBe(text);
});
