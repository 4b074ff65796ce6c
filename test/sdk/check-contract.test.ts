import { describe, expect, it } from '@jest/globals';
import { contractProblem } from '../../src/sdk/plugin.ts';

const plugin = (members: object) => ({ get_config_schema: () => ({}), process: () => undefined, ...members });

describe('the members of a plugin', () => {
  it.each([
    ['mapLine', 'mapLines'],
    ['maprows', 'mapRows'],
    ['forwardbatch', 'forwardBatch'],
    ['traitss', 'traits'],
    ['trait', 'traits'],
    ['examples', 'example'],
    ['exampleEvent', 'exampleEvents'],
    ['checkconfig', 'checkConfig'],
  ])('may not nearly be those of the contract: %s', (name, meant) => {
    expect(contractProblem('process', plugin({ [name]: () => undefined }))).toContain(
      `it has the unknown member \`${name}\`; did you mean \`${meant}\`?`,
    );
  });

  it.each([
    'default',
    'helper',
    'processor',
    'collected',
    '_process',
    'VERSION',
    'mapping',
    'forwarder',
    '__esModule',
  ])('may be anything else: %s', (name) => {
    expect(contractProblem('process', plugin({ [name]: () => undefined }))).toBeUndefined();
  });

  it.each([
    [{ description: 7 }, 'its `description` is not a string'],
    [{ description: null }, 'its `description` is not a string'],
    [{ example: ['x'] }, 'its `example` is not a string'],
  ])('have the types that `millrace plugins` shows: %j', (members, problem) => {
    expect(contractProblem('process', plugin(members))).toBe(problem);
  });
});
