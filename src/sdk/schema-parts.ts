import * as z from 'zod';
import { toUtc } from '../../operators/internal.ts';
import { type ListenAddress, parseListenAddress } from './listen-address.ts';

/** The upper bound of counts in docs/specification.md, 9223372036854775807, which a JavaScript number holds as 2^63. */
export const MAX_COUNT = 2 ** 63;

/**
 * A whole number of any size; zod's own `int()` would stop at 2^53.
 *
 * @example
 * integer().safeParse(2 ** 60).success; // true
 * integer().safeParse(1.5).success; // false
 */
export const integer = () =>
  z.number().refine(Number.isInteger, { message: 'a whole number', abort: true }).meta({ type: 'integer' });

/**
 * A number of seconds. A configuration can write it with units: `500ms`, `5s`, `1m30s`, `2h` or `1d`.
 *
 * @example
 * seconds().gt(0).safeParse(0.5).success; // true
 */
export const seconds = () => z.number().meta({ unit: 'seconds', examples: ['5s'] });

/**
 * A whole number of bytes. A configuration can write it with a unit: `64KiB`, `1MiB` or `10MB`.
 *
 * @example
 * bytes().min(1).safeParse(65_536).success; // true
 */
export const bytes = () => integer().meta({ unit: 'bytes', examples: ['1MiB'] });

/**
 * A count above 0 and below {@link MAX_COUNT}, both exclusive.
 *
 * @example
 * count().safeParse(1).success; // true
 * count().safeParse(0).success; // false
 */
export const count = () =>
  z
    .number()
    .gt(0)
    .lt(MAX_COUNT)
    .refine(Number.isInteger, { message: 'a whole number' })
    .meta({ type: 'integer' });

/**
 * Exactly one character: one Unicode code point, as JSON Schema counts.
 *
 * @example
 * oneCharacter().safeParse('😀').success; // true
 * oneCharacter().safeParse('**').success; // false
 */
export const oneCharacter = () =>
  z
    .string()
    .refine((text) => [...text].length === 1, { message: 'exactly 1 character' })
    .meta({ minLength: 1, maxLength: 1 });

/**
 * A file system path. An empty one would silently mean the working folder, and `~`, which shells alone expand, a
 * folder of that name; one with a NUL character names nothing.
 *
 * @example
 * path().safeParse('').success; // false
 * path().safeParse('~/app.log').success; // false
 * path().safeParse('./~/app.log').success; // true
 * path().safeParse('a\0b').success; // false
 */
export const path = () =>
  z
    .string()
    .min(1)
    .refine((text) => !/^~(?:\/|$)/.test(text), {
      message:
        'a path without `~`, which only shells expand; write ${HOME}, or ./~ for a folder of that name',
    })
    .refine((text) => !text.includes('\0'), { message: 'a path without NUL characters' });

let folder: string | undefined;

/**
 * The folder that paths and packages of the configuration which is being read are relative to: that of its file. Where there
 * is no file, as for `parseConfig`, it is the working folder. It is for transforms of schemas, which run while an entry is read.
 *
 * @example
 * configFolder() === process.cwd(); // true
 */
export const configFolder = (): string => folder ?? process.cwd();

/** Reads an entry with a schema whose {@link configFolder} is this one. */
export function inConfigFolder<T>(ofFile: string | undefined, read: () => T): T {
  const before = folder;
  folder = ofFile;
  try {
    return read();
  } finally {
    folder = before;
  }
}

/**
 * A list of names; a single string stands for a list of one.
 *
 * @example
 * nameList().parse('web'); // ['web']
 */
export const nameList = () => z.union([z.array(z.string()), z.string().transform((name) => [name])]);

/**
 * A schema for a date-time of the specification, normalised to UTC.
 *
 * @example
 * dateTime().parse('2026-01-02 03:04'); // '2026-01-02T03:04:00.000Z'
 */
export const dateTime = () =>
  z
    .string()
    .transform((stamp, ctx) => {
      const utc = toUtc(stamp);
      if (utc !== undefined) return utc;
      ctx.issues.push({ code: 'custom', input: stamp, message: 'an ISO 8601 date-time' });
      return z.NEVER;
    })
    .meta({ format: 'date-time' });

/**
 * A schema for `PORT`, `HOST:PORT` or `[IPV6]:PORT`, as a number or a string.
 *
 * @example
 * listenAddress().parse(9464); // { host: '127.0.0.1', port: 9464 }
 * listenAddress().safeParse('everywhere').success; // false
 */
export const listenAddress = () =>
  z
    .union([z.number().int().min(0).max(65_535), z.string().min(1)])
    .transform((value, context): ListenAddress => {
      const address = parseListenAddress(String(value));
      if (address !== undefined) return address;
      context.addIssue({ code: 'custom', message: 'a port, or HOST:PORT with a port up to 65535' });
      return z.NEVER;
    });
