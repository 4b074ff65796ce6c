import { describe, expect, it } from '@jest/globals';
import { InFlightWindow } from '../../operators/in-flight-window.ts';

describe('InFlightWindow', () => {
  it('counts what is open and tells of the room as it grows', () => {
    const window = new InFlightWindow(3);
    const rooms: number[] = [];
    window.room$.subscribe((room) => rooms.push(room));
    window.take(3);
    expect(window.room).toBe(0);
    window.release(2);
    expect(window.open).toBe(1);
    expect(rooms).toEqual([3, 2]);
  });

  it('tells nothing on subscription while it is full', () => {
    const window = new InFlightWindow(1);
    window.take(2);
    const rooms: number[] = [];
    window.room$.subscribe((room) => rooms.push(room));
    expect(window.room).toBe(0);
    window.release(1);
    expect(rooms).toEqual([]);
    window.release(1);
    expect(rooms).toEqual([1]);
  });

  it('does not nest when values acknowledge inside a notification', () => {
    const window = new InFlightWindow(1);
    let taken = 0;
    window.take(1);
    window.room$.subscribe(() => {
      if (taken === 100_000) return;
      taken++;
      window.take(1);
      window.release(1);
    });
    window.release(1);
    expect(taken).toBe(100_000);
  });

  it('serves several waiting sources in turn', () => {
    const window = new InFlightWindow(1);
    const served: string[] = [];
    window.take(1);
    for (const name of ['a', 'b', 'c']) {
      window.room$.subscribe(() => {
        served.push(name);
        window.take(1);
      });
    }
    for (let i = 0; i < 6; i++) window.release(1);
    expect(served).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('forgets a source that has left', () => {
    const window = new InFlightWindow(1);
    window.take(1);
    let told = 0;
    window.room$.subscribe(() => told++).unsubscribe();
    window.release(1);
    expect(told).toBe(0);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])(
    'refuses to take or release %p, and stays as it is',
    (count) => {
      const window = new InFlightWindow(3);
      window.take(2);
      expect(() => window.take(count)).toThrow(RangeError);
      expect(() => window.release(count)).toThrow(RangeError);
      expect(window.open).toBe(2);
    },
  );

  it('refuses to release more than is open', () => {
    const window = new InFlightWindow(3);
    window.take(1);
    expect(() => window.release(2)).toThrow('InFlightWindow: cannot release 2, only 1 are open');
    expect(window.open).toBe(1);
  });

  it('takes fractions, whose sums are not exact', () => {
    const window = new InFlightWindow(3);
    for (const count of [0.1, 0.2, 0.3]) window.take(count);
    for (const count of [0.3, 0.2, 0.1]) window.release(count);
    expect(window.open).toBeCloseTo(0);
    expect(window.open).toBeGreaterThanOrEqual(0);
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses a size of %p', (size) => {
    expect(() => new InFlightWindow(size)).toThrow(RangeError);
  });
});
