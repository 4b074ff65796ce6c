import { expect, it } from '@jest/globals';
import { counted } from '../../../operators/support/counted.ts';

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [2, '2 bytes'],
])('counts %i in words', (value, text) => {
  expect(counted(value, 'byte')).toBe(text);
});

it.each([
  [1, 'more event', '1 more event'],
  [2, 'more event', '2 more events'],
  [2, 'entry', '2 entries'],
  [2, 'day', '2 days'],
])('%d %s: %s', (value, noun, text) => {
  expect(counted(value, noun)).toBe(text);
});
