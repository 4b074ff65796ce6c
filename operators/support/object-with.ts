import { type Check, type Checks, OBJECT } from './check-options.ts';

/** Checks an option that is an object, and refuses unknown fields. */
export const objectWith =
  <Options extends object>(checks: Checks<Options>): Check =>
  (value) => {
    if (OBJECT(value) !== true) return 'an object';
    for (const name in value as Options) {
      if (!Object.hasOwn(checks, name))
        return `an object with no other fields than ${Object.keys(checks).join(', ')}`;
      const one = (value as Options)[name];
      const expected = one === undefined || checks[name](one);
      if (expected !== true) return `an object whose ${name} is ${expected}`;
    }
    return true;
  };
