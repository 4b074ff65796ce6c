import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { format, inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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
    const file = temp('key');
    const key = secret().parse({ file });
    writeFileSync(file, 'line "one"\nline two');
    key.read();
    writeFileSync(file, 'other value');
    key.read();
    expect(key.hideIn('at line "one"\nline two: {"k":"line \\"one\\"\\nline two"} other value')).toBe(
      'at <secret>: {"k":"<secret>"} <secret>',
    );
    expect(new Secret('abc').hideIn('abcde')).toBe('abcde');
    writeFileSync(file, 'other');
    key.read();
    expect(key.hideIn('other value')).toBe('<secret>');
  });

  it('is found anywhere in a configuration, and is recognised across copies of millrace', () => {
    const a = new Secret('aaaa');
    const found = secretsIn({ x: [{ y: a }], z: { made: new Date(0) } }, ['forwarders']);
    expect(found).toEqual([{ path: ['forwarders', 'x', 0, 'y'], secret: a }]);
    const copy = { [Symbol.for('millrace.Secret')]: true };
    expect([isSecret(copy), isSecret({}), isSecret(null)]).toEqual([true, false, false]);
  });
});
