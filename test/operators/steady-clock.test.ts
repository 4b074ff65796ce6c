import { afterEach, expect, it, jest } from '@jest/globals';
import { steadyClock } from '../../operators/steady-clock.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

it('counts from 0, and stands still while the clock is set back', () => {
  const times = [5000, 5010, 2000, 2005];
  jest.spyOn(Date, 'now').mockImplementation(() => times.shift() as number);
  const now = steadyClock();
  expect([now(), now(), now()]).toEqual([10, 10, 15]);
});
