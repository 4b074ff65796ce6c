import { describe, expect, it } from '@jest/globals';
import { argumentReader } from '../../operators/masks/keyed/arguments.ts';

/** What is read after the first bracket, or after the space of a call without brackets. */
const read = (form: string, text: string) => {
  const start = /[( ]/.exec(text)?.index ?? 0;
  return argumentReader(form)(text, start + 1).map((place) => text.slice(place.start, place.end));
};

describe('the arguments of a call', () => {
  it.each<[form: string, text: string, values: readonly string[]]>([
    ['2', `login('ada', 'pw')`, ['pw']],
    ['2', `login("ada", b"pw", 7)`, ['pw']],
    ['2', `login('ada', 'it\\'s')`, ["it\\'s"]],
    ['2', `login('', 'a, (b')`, ['a, (b']],
    ['2', `login("""ada""", """p"w""")`, ['p"w']],
    ['2', `login(\\"ada\\", \\"pw\\")`, ['pw']],
    ['2', `login(""ada"", ""pw"")`, ['pw']],
    ['2', `login(f(x, [1, 'y']), 'pw')`, ['pw']],
    ['2', `login({ a: 1, b: { c: 'x' } }, 'pw', { d: 'e' })`, ['pw']],
    ['2', `login(\n  'ada',\n  'pw',\n)`, ['pw']],
    ['2', `login 'ada', 'pw'\n`, ['pw']],
    ['2', `login(user: 'x', 'ada', 'pw')`, ['pw']],
    ['1', `new([]byte("pw"))`, ['pw']],
    ['1', `key(Encoding.UTF8.GetBytes("pw"))`, ['pw']],
    ['1', `key("pw".toCharArray(), 'x')`, ['pw']],
    ['2', `login('ada', 'secret...', Array)`, ['secret']],
    ['2 3', `change(user, 'old', 'new')`, ['old', 'new']],
    ['last', `set('ada', 'pw')`, ['pw']],
    ['2', `login('ada', 'pw`, ['pw']],
    ['2', `login('ada', '')`, []],
    ['2', `login('ada', password)`, []],
    ['2', `login('ada', getenv('PW'))`, []],
    ['2', `login('ada', config.get("pw"))`, []],
    ['2', `login('ada', 'x' => 'y')`, []],
    ['2', `login('ada', 'x' ? a : b)`, []],
    ['2', 'login(`ada`, `pw${x}`)', []],
    ['2', `login('ada'), 'pw')`, []],
    ['2', `login (it can't be 'x', 'y's)`, []],
    ['2 of 2', `login('ada', 'pw', 7)`, []],
    ['3', `login('ada', 'pw')`, []],
  ])('%s of %s', (form, text, values) => {
    expect(read(form, text)).toEqual(values);
  });

  it('are read up to a bounded distance', () => {
    expect(read('2', `login(${'x'.repeat(2000)}, 'pw')`)).toEqual([]);
    expect(read('2', `login(${'('.repeat(20)}${')'.repeat(20)}, 'pw')`)).toEqual([]);
  });
});
