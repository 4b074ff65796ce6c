import { describe, expect, it } from '@jest/globals';
import { maskEvent } from '../../../operators/masks/mask-strings.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';

const stars = () => '***';

describe('maskEvent', () => {
  it('masks every field, except times of the event itself', () => {
    const event = deepFreeze({
      timestamp: '2026-01-02T03:04:05.678Z',
      stamp: '2026-01-02T03:04:05+02:00',
      tag: 'host/beacon/a/load',
      beacon: 'load',
      raw_data: { a: 'x', timestamp: '2026-01-02T03:04:05.678Z' },
      data: { stamp: '2026-01-02T03:04:05.678Z', n: 1 },
    });
    expect(maskEvent(event, stars)).toEqual({
      timestamp: event.timestamp,
      stamp: event.stamp,
      tag: '***',
      beacon: '***',
      raw_data: { a: '***', timestamp: '***' },
      data: { stamp: '***', n: 1 },
    });
  });

  it.each([
    'KEY::0123456789',
    '',
    'yesterday',
    '2026-01-02',
    '2026-13-02T03:04:05Z',
    '2026-01-02T03:04:05',
    '2026-01-02T03:04:05.4111111111111111Z',
    '2026-01-02T03:04:05Z KEY::0123456789',
    '2026-01-02T03:04:05Z\nx',
  ])('masks a timestamp that is no date-time: %p', (timestamp) => {
    expect(maskEvent({ timestamp, data: {} }, stars).timestamp).toBe('***');
  });

  it('keeps a known good timestamp again and again, and no other after it', () => {
    const good = '2026-01-02T03:04:05.678Z';
    for (const timestamp of [good, good, 'x', good]) {
      expect(maskEvent({ timestamp }, stars).timestamp).toBe(timestamp === good ? good : '***');
    }
  });

  it('masks a timestamp of another type by its type', () => {
    const date = new Date(0);
    expect(maskEvent({ timestamp: date, data: {} }, stars).timestamp).toBe(date);
    expect(maskEvent({ timestamp: ['a'], data: {} }, stars).timestamp).toEqual(['***']);
  });

  it('keeps the timestamp of an event of a class', () => {
    class LineEvent {
      readonly timestamp = '2026-01-02T03:04:05.678Z';
      readonly data = { line: 'x' };
    }
    expect(maskEvent(new LineEvent(), stars)).toEqual({
      timestamp: '2026-01-02T03:04:05.678Z',
      data: { line: '***' },
    });
  });

  it('masks the elements of an array', () => {
    expect(maskEvent(['2026-01-02T03:04:05.678Z'], stars)).toEqual(['***']);
  });
});
