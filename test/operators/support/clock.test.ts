import { afterEach, expect, it, jest } from '@jest/globals';
import { timer } from 'rxjs';
import { steadyClock } from '../../../operators/support/clock.ts';
import { marbles } from '../../support/marbles.ts';

const DAY = 24 * 3600 * 1000;

afterEach(() => {
  jest.restoreAllMocks();
});

it('counts from 0 in whole milliseconds, whatever the system clock is set to meanwhile', () => {
  const today = Date.now();
  const wall = jest.spyOn(Date, 'now').mockReturnValue(today);
  const monotonic = jest.spyOn(performance, 'now').mockReturnValue(100.4);
  const now = steadyClock();
  expect(now()).toBe(0);
  wall.mockReturnValue(today + DAY);
  monotonic.mockReturnValue(110.9);
  expect(now()).toBe(10);
  wall.mockReturnValue(today - DAY);
  monotonic.mockReturnValue(125);
  expect(now()).toBe(25);
});

it('stands still where even that clock goes back', () => {
  const times = [5000, 5010, 2000, 2005];
  jest.spyOn(performance, 'now').mockImplementation(() => times.shift() as number);
  const now = steadyClock();
  expect([now(), now(), now()]).toEqual([10, 10, 15]);
});

it('is governed by virtual time', () => {
  marbles(({ flush }) => {
    const now = steadyClock();
    const seen: number[] = [];
    timer(DAY).subscribe(() => seen.push(now()));
    flush();
    expect(seen).toEqual([DAY]);
  });
});
