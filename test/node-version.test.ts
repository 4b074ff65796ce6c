import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { nodeVersionProblem } from '../src/node-version.ts';
import { ROOT } from './support/build.ts';

describe('the version of Node.js', () => {
  it.each(['20.19.0', '20.20.2', '21.0.0', '22.1.0', '24.11.1', '100.0.0', '25.0.0-nightly20250101'])(
    '%s is one that millrace runs on',
    (version) => expect(nodeVersionProblem(version)).toBeUndefined(),
  );

  it.each(['0.12.18', '12.22.12', '16.20.2', '18.20.8', '20.0.0', '20.18.3', '20.9.0', 'unknown', ''])(
    '%s is refused, with what is required and what was found',
    (version) => {
      const problem = nodeVersionProblem(version);
      expect(problem).toContain('Node.js 20.19 or later is required');
      expect(problem).toContain(`this is Node.js ${version} (${process.execPath})`);
    },
  );

  it('that is required is the one in package.json', () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const oldest = /^>=(\d+\.\d+)$/.exec(engines.node)?.[1];
    expect(nodeVersionProblem('0.0.0')).toContain(`Node.js ${oldest} or later`);
  });
});
