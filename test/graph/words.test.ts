import { describe, expect, it } from '@jest/globals';
import { UNBROKEN, wrapText } from '../../src/graph/words.ts';

describe('wrapText', () => {
  it.each([
    ['one two three', 8, ['one two', 'three']],
    ['/var/log/nginx/access.log', 12, ['/var/log/', 'nginx/', 'access.log']],
    ['aaaaaaaaaaaa', 5, ['aaaaa', 'aaaaa', 'aa']],
    [
      `data.n${UNBROKEN}==${UNBROKEN}10 && data.user${UNBROKEN}!=${UNBROKEN}"ada"`,
      20,
      ['data.n == 10 &&', 'data.user != "ada"'],
    ],
    [`one${UNBROKEN}two${UNBROKEN}three`, 8, ['one two', 'three']],
    ['', 5, ['']],
  ])('%j in %d columns', (text, columns, lines) => {
    expect(wrapText(text, columns)).toEqual(lines);
  });
});
