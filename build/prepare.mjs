// Builds before npm packs or links this package. `npx millrace` in a clone links it too, and needs no new build.
import { execSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const isLinkedByNpx = process.env.npm_command === 'exec';
if (!isLinkedByNpx || !existsSync('dist/src/cli/bin.js')) execSync('npm run build', { stdio: 'inherit' });
