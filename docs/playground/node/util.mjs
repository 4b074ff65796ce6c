import { dequal } from 'dequal';
import { format, formatWithOptions, inspect, stripVTControlCharacters } from 'node-inspect-extracted';

export { format, formatWithOptions, inspect, stripVTControlCharacters };
export const isDeepStrictEqual = dequal;
/** Codes of the operating system, of which a browser has none. */
export const getSystemErrorMap = () => new Map();
/** Plugins prepare functions with it that no test calls. */
export const promisify =
  (call) =>
  (...args) =>
    new Promise((resolve, reject) =>
      call(...args, (error, value) => (error ? reject(error) : resolve(value))),
    );
