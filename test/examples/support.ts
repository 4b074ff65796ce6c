import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/build.ts';

/** The configurations in `examples/` itself: those in its folders need servers. */
export const examples = readdirSync(join(ROOT, 'examples'))
  .filter((name) => /\.ya?ml$/.test(name))
  .map((name) => `examples/${name}`);
