import { dequal } from 'dequal';
import { format, formatWithOptions, inspect, stripVTControlCharacters } from 'node-inspect-extracted';

export { format, formatWithOptions, inspect, stripVTControlCharacters };
export const isDeepStrictEqual = dequal;
/** Codes of the operating system, of which a browser has none. */
export const getSystemErrorMap = () => new Map();
