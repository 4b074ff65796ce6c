import { describe, expect, it } from '@jest/globals';
import { withOwnBuffer } from '../../src/lines/protocol.ts';

describe('withOwnBuffer', () => {
  it('takes a small buffer out of the pool that it shares with others, which stays as it is', () => {
    const other = Buffer.from('other');
    const small = Buffer.from('{"data":{}}\n');
    expect(small.buffer.byteLength).toBeGreaterThan(small.byteLength);

    const bytes = withOwnBuffer(small);
    const received = structuredClone(bytes, { transfer: [bytes.buffer] });

    expect(Buffer.from(received).toString()).toBe('{"data":{}}\n');
    // Handed over, not copied once more.
    expect(bytes.byteLength).toBe(0);
    expect(other.toString()).toBe('other');
  });

  it('copies nothing that is alone in its buffer', () => {
    const large = Buffer.allocUnsafeSlow(10);
    expect(withOwnBuffer(large)).toBe(large);
  });
});
