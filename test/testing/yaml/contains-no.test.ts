import { describe, expect, it } from '@jest/globals';
import { runOne } from './helpers.ts';

const messages = async (body: string) =>
  (await runOne(body)).findings.map(({ path, message }) => `${path}: ${message}`);
const NOTHING = 'there was no event to look at; if that is right, say so with `count: 0` or an empty list';

describe('contains_no', () => {
  it.each([
    ['letters: { contains_no: x }', [`expect.letters.contains_no: ${NOTHING}`]],
    ['contains_no: x', [`expect.contains_no: ${NOTHING}`]],
    ['contains_no: x, archive: []', [`expect.contains_no: ${NOTHING}`]],
    ['letters: { contains_no: x, count: 0 }', []],
    ['letters: { contains_no: x, exactly: [] }', []],
    ['contains_no: x, archive: [], live: { count: 0 }', []],
  ])('without any event: %s', async (expectations, expected) => {
    expect(await messages(`collect: { log: [] }, expect: { ${expectations} }`)).toEqual(expected);
  });

  it.each([
    ['is dead-lettered', 'fails: always'],
    ['is refused', 'fails: always, permanent: true'],
    ['is still waiting', 'takes: 3d'],
  ])('looks at an event that a forwarder was handed and that %s', async (_, behaviour) => {
    const found = await messages(
      `collect: { log: [bad] }, forward: { archive: { ${behaviour} } }, expect: { archive: { contains_no: bad } }`,
    );
    expect(found).toEqual(['expect.archive.contains_no: 1 of 1 event contains "bad"']);
  });

  it.each([
    ['2026-01-02T03:04:05.678Z', []],
    ['2026-01-02T03:04:05+01:00', []],
    ['2026 k-1', ['expect.log.contains_no: 1 of 1 event contains "2026"']],
    ['2026-01-02T03:04:05Z k-1', ['expect.log.contains_no: 1 of 1 event contains "2026"']],
  ])('with the timestamp %s', async (timestamp, expected) => {
    const event = `{ data: { line: x }, timestamp: '${timestamp}' }`;
    const body = `collect: { log: [${event}] }, expect: { log: { contains_no: '2026' } }`;
    expect(await messages(body)).toEqual(expected);
  });
});
