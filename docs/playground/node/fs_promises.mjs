export { readFile } from './fs.mjs';
