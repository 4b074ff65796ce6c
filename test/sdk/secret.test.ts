import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { format, inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { withholdingLogger } from '../../src/sdk/checks/shown-values.ts';
import { isFatal } from '../../src/sdk/errors.ts';
import { isSecret, Secret, secret, secretsIn } from '../../src/sdk/secret.ts';
import { tempFolder } from '../support/temp-folder.ts';

const temp = tempFolder();
const VARIABLE = 'MILLRACE_TEST_SECRET';
beforeEach(() => {
  process.env[VARIABLE] = 'hunter2';
});
afterEach(() => {
  delete process.env[VARIABLE];
});

/** A message as the log shows it. */
function shownBy(
  message: string,
  secrets: readonly Secret[],
  variables: readonly { name: string; value: string }[] = [],
): string {
  let shown = '';
  const log = (text: string) => {
    shown = text;
  };
  withholdingLogger({ error: log, warn: log, info: log, debug: log }, variables, secrets).info(message);
  return shown;
}

const error = (read: () => unknown): unknown => {
  try {
    read();
  } catch (thrown) {
    return thrown;
  }
  throw new Error('it did not fail');
};

describe('a secret', () => {
  it('shows its value only when it is read', () => {
    const token = secret().parse('hunter2');
    const config = { auth: { bearer: token }, list: [token] };
    const shown = [
      `${token}`,
      String(token),
      JSON.stringify(config),
      inspect(config),
      format('%s %o', token, token),
    ];
    shown.push(
      inspect(config, { showHidden: true, depth: 9 }),
      JSON.stringify({ ...token }),
      `${Object.values(token)}`,
    );
    expect(shown.filter((text) => text.includes('hunter2'))).toEqual([]);
    expect(shown.slice(0, 3)).toEqual([
      '<secret>',
      '<secret>',
      '{"auth":{"bearer":"<secret>"},"list":["<secret>"]}',
    ]);
    expect(token.read()).toBe('hunter2');
  });

  it('takes its value from the environment, when it is read', () => {
    const token = secret().parse({ env: VARIABLE });
    process.env[VARIABLE] = 'changed';
    expect(token.read()).toBe('changed');
  });

  it.each([
    ['is not set', undefined],
    ['is empty', ''],
  ])('fails for good if its variable %s', (state, value) => {
    if (value === undefined) delete process.env[VARIABLE];
    else process.env[VARIABLE] = value;
    const thrown = error(() => secret().parse({ env: VARIABLE }).read());
    expect(String(thrown)).toContain(
      `the environment variable ${VARIABLE}, which is to hold a secret, ${state}`,
    );
    expect(isFatal(thrown)).toBe(true);
  });

  it('is read again from its file when the file was replaced or rewritten', () => {
    const file = temp('token');
    writeFileSync(file, 'first\n');
    const token = secret().parse({ file });
    expect([token.read(), token.read()]).toEqual(['first', 'first']);
    writeFileSync(`${file}.new`, 'second\r\n');
    renameSync(`${file}.new`, file);
    expect(token.read()).toBe('second');
    writeFileSync(file, 'third one');
    expect(token.read()).toBe('third one');
  });

  it('can be tried again if its file is not there, is empty, a folder or too large', () => {
    const file = temp('token');
    const token = secret().parse({ file });
    const missing = error(() => token.read());
    expect(String(missing)).toContain(
      `cannot read the secret from the file ${file}: ENOENT: no such file or directory`,
    );
    expect(isFatal(missing)).toBe(false);
    writeFileSync(file, '\n');
    expect(() => token.read()).toThrow('it is empty');
    writeFileSync(file, 'x'.repeat(1_048_577));
    expect(() => token.read()).toThrow('larger than 1 MiB');
    expect(() => secret().parse({ file: temp() }).read()).toThrow('it is not a file');
    rmSync(file);
    writeFileSync(file, 'here');
    expect(token.read()).toBe('here');
  });

  it('is hidden in texts, with its values before the last change, plain and escaped', () => {
    const hideIn = (key: Secret, text: string) => shownBy(text, [key]);
    const file = temp('key');
    const key = secret().parse({ file });
    writeFileSync(file, 'line "one"\nline two');
    key.read();
    writeFileSync(file, 'other value');
    key.read();
    expect(hideIn(key, 'at line "one"\nline two: {"k":"line \\"one\\"\\nline two"} other value')).toBe(
      'at <secret>: {"k":"<secret>"} <secret>',
    );
    expect(hideIn(new Secret('abc'), 'abcde')).toBe('abcde');
    writeFileSync(file, 'other');
    key.read();
    expect(hideIn(key, 'other value')).toBe('<secret>');
  });

  it('is hidden with the others, the longest first, whatever order they are in', () => {
    const secrets = [new Secret('hunter2'), new Secret('my-hunter2-key'), new Secret('a b&c')];
    for (const order of [secrets, secrets.toReversed()]) {
      const text = 'my-hunter2-key hunter2 /?k=a%20b%26c my-hun…';
      expect(shownBy(text, order)).toBe('<secret> <secret> /?k=<secret> <secret>…');
    }
    const variables = [{ name: 'V', value: 'hunter' }];
    expect(shownBy('my-hunter2-key hunter', secrets, variables)).toBe('<secret> ${V}');
    const longer = [{ name: 'V', value: 'my-hunter2-key' }];
    expect(shownBy('in my-hunter2-key/x', secrets.slice(0, 1), longer)).toBe('in ${V}/x');
  });

  it('is found anywhere in a configuration, and is recognised across copies of millrace', () => {
    const a = new Secret('aaaa');
    const found = secretsIn({ x: [{ y: a }], z: { made: new Date(0) } }, ['forwarders']);
    expect(found).toEqual([{ path: ['forwarders', 'x', 0, 'y'], secret: a }]);
    const copy = { [Symbol.for('millrace.Secret')]: true };
    expect([isSecret(copy), isSecret({}), isSecret(null)]).toEqual([true, false, false]);
  });
});
