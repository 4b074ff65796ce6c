import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

const newRedactor = () =>
  createRedactor(RedactProcessConfig.parse({ plugin: 'redact' }), { now: () => 0, onMask: () => {} });

/** Line by line, as a file is read. */
function maskLines(text: string): string {
  const redactor = newRedactor();
  return text
    .split('\n')
    .map((line) => redactor.maskLine('a', line))
    .join('\n');
}
const maskText = (text: string) => newRedactor().maskText(text);
const plain = (text: string) => text.replace(/[⟦⟧]/g, '');
const masked = (text: string) => text.replace(/⟦[^⟦⟧]*⟧/g, '<:>');
const anyMask = (text: string) => text.replace(/<:[\w-]+:>/g, '<:>');

describe('the rows of a table', () => {
  it.each([
    ['at the start', 'id,user,password\n1,ada,⟦Kiwi-3YYNac⟧\n2,bob,⟦Regen67Uq⟧'],
    ['after other text', 'export of today\nid;password\n1;⟦Kiwi-3YYNac⟧'],
    ['with brackets in names', 'user (login),password (clear),at [utc]\nada,⟦Kiwi-3YYNac⟧,3'],
    ['with a name that starts with a digit', '1st_password,2nd\n⟦Kiwi-3YYNac⟧,x'],
    ['with two kinds of separators', 'id;name,first;password\n1;Ada, L.;⟦Kiwi-3YYNac⟧'],
    ['with a comma and a space in quotes', 'id,name,password\n1,"Love, Ada",⟦Kiwi-3YYNac⟧'],
    ['of more than 2,000 characters', `id,note,password\n1,${'x'.repeat(3000)},⟦Kiwi-3YYNac⟧`],
    ['below a line of dashes', 'web|up|3\nid|password|at\n--+--+--\n1|⟦Kiwi-3YYNac⟧|2'],
  ])('are masked %s', (_, text) => {
    expect(anyMask(maskLines(plain(text)))).toBe(masked(text));
    expect(anyMask(maskText(plain(text)))).toBe(masked(text));
  });

  it.each([
    ['bars', 'web|ada7xQ|login\nmail|password|changed\nweb|bob7xKq9|logout\nweb|Kiwi3YYNac|login'],
    ['tabs', 'web\tlogin\tada7xQ9\nweb\tpassword\treset\nweb\tKiwi3YYNac\tKiwi3YYNac'],
    ['commas', 'web,ada7xQ9\nweb,password\nweb,Kiwi3YYNac'],
    ['dates', '2026-01-01|mail|password\n2026-01-02|web|Kiwi3YYNac'],
  ])('are not the lines of a log whose fields are separated by %s', (_, text) => {
    expect(maskLines(text)).toBe(text);
    expect(maskText(text)).toBe(text);
  });

  it('are none after lines that were masked together, unless dashes follow', () => {
    const redactor = newRedactor();
    redactor.many('a')?.map('web|up|3\nweb|up|4');
    const [header, row] = ['web|password|at', 'web|Kiwi3YYNac|3'];
    redactor.maskLine('a', header);
    expect(redactor.maskLine('a', row)).toBe(row);
  });
});
