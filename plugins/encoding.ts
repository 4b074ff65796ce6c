import * as z from 'zod';
import { isEncoding } from '../operators/internal-files.ts';

/** The label of an encoding that Node.js can decode, whatever its case. */
export const encoding = () =>
  z.string().refine(isEncoding, {
    message:
      'expected the name of an encoding, such as utf-8, windows-1252 (latin1), shift_jis, euc-jp, gb18030, big5, euc-kr, koi8-r, utf-16le or utf-16be',
  });
