import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { folderWith, runCommand } from '../support/cli.ts';
import { examples } from './support.ts';

const DATA = 'examples/data/access.log';
const firstLines = readFileSync(join(ROOT, DATA), 'utf8')
  .split(/(?<=\n)/)
  .slice(0, 300)
  .join('');

describe('the tests of the examples', () => {
  it('are there in all of them', () => {
    expect(examples).toEqual(
      expect.arrayContaining(
        ['quickstart', 'host-metrics', 'redaction', 'fan-out', 'restart'].map(
          (name) => `examples/${name}.yaml`,
        ),
      ),
    );
  });

  it('pass', async () => {
    expect(await runCommand(['test', ...examples])).toMatchObject({ code: 0 });
  });
});

describe('the tests of the examples in folders', () => {
  // Of these, no test can notice every small change: virtual time has no server that stores a document once.
  it.each(['kafka/archive.yaml', 'opensearch/access-log.yaml', 's3/archive.yaml'])(
    'pass: %s',
    async (name) => {
      expect(await runCommand(['test', `examples/${name}`])).toMatchObject({ code: 0 });
    },
  );
});

describe('an example that is tested', () => {
  it.each(['redaction', 'fan-out', 'restart'])('runs for real: %s', async (name) => {
    // A folder that looks like the repository, with the first lines of the data. The quick start reads all of it.
    const cwd = folderWith({ [DATA]: firstLines });
    for (const file of readdirSync(join(ROOT, 'examples')).filter((file) => file !== 'data')) {
      symlinkSync(join(ROOT, 'examples', file), join(cwd, 'examples', file));
    }
    const { code, stderr } = await runCommand(['run', `examples/${name}.yaml`, '--once'], { cwd });
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/^ {2}in +300 /m) });
  });
});
