import { describe, expect, it } from '@jest/globals';
import { logLines, THREE_RULES } from '../../bench/log-generator.ts';

const lines = [...logLines(2000)];

describe('the log of the bench', () => {
  it('is the same each time, and begins the same whatever its length', () => {
    expect([...logLines(2000)]).toEqual(lines);
    expect([...logLines(10)]).toEqual(lines.slice(0, 10));
  });

  it('has lines of about 160 bytes', () => {
    const bytes = Buffer.byteLength(lines.join('')) / lines.length;
    expect(bytes).toBeGreaterThan(145);
    expect(bytes).toBeLessThan(175);
  });

  it('has an address of each kind in every line, and a key in one of five', () => {
    const share = (rule: string) => {
      const expression = new RegExp(THREE_RULES[rule] as string);
      return lines.filter((line) => expression.test(line)).length / lines.length;
    };
    expect({ EMAIL: share('EMAIL'), IP: share('IP'), SECRET: share('SECRET') }).toEqual({
      EMAIL: 1,
      IP: 1,
      SECRET: 0.2,
    });
  });
});
