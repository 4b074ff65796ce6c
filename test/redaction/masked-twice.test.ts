import { describe, expect, it } from '@jest/globals';
import { nameOfRule } from '../../operators/internal-redact.ts';
import { createRedactor, packRules } from '../../redact/index.ts';

/* A program can mask twice: in a logger, and again in what it writes. What is masked already changes no more. */

const redactor = createRedactor({ packs: 'all' });
const names = Object.keys(packRules('all')).map(nameOfRule);

describe.each(['', 'token: ', 'password=', 'Bearer ', 'Error: Invalid API key: '])(
  'a mask after %j',
  (before) => {
    it('leaves the lines after it as they are', () => {
      const texts = names.flatMap((name) =>
        [
          '\n    at connect (/srv/app/db.js:10:5)',
          '\n  caused by: closed',
          '\n\tfile: index.js',
          ' and more',
          '"}',
        ].map((after) => `${before}<:${name}:>${after}`),
      );
      expect(texts.filter((text) => redactor.redact(text) !== text)).toEqual([]);
    });
  },
);
