import { describe, expect, it } from '@jest/globals';
import { folderWith, runCommand } from '../support/cli.ts';

/** Files that are no configurations, as a mistyped name or a wild card may hand them over. All hold `hunter2`. */
const FOREIGN = {
  shadow: 'root:*:19000:0:99999:7:::\n_apt:*:19000:0:99999:7:::\nada:$y$j9T$hunter2:19000:0:99999:7:::\n',
  passwd: 'root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000:hunter2,,,:/home/ada:/bin/sh\n',
  '.env': '# production\nDATABASE_URL=postgres://ada:hunter2@db/app\npipelines=hunter2\n',
  'env.yaml': 'DATABASE_URL: postgres://ada:hunter2@db/app\n_TOKEN: hunter2\n',
  id_ed25519:
    '-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2AAAAB3Nza: C1kc3MAAACBAP\n-----END OPENSSH PRIVATE KEY-----\n',
  'service-account.json': '{\n  "type": "service_account",\n  "_id": 1,\n  "private_key": "hunter2\\n"\n}\n',
  'broken.json': '{\n  "private_key": "hunter2",\n  "pipelines": [\n',
  'secret.yaml':
    'apiVersion: v1\nkind: Secret\ndata:\n  pipelines: aHVudGVyMg==\nstringData:\n  password: hunter2\n',
  'broken-secret.yaml': 'kind: Secret\nstringData:\n  pipelines: {}\n  password: "hunter2\n  x: [hunter2\n',
  'two-secrets.yaml': 'kind: Secret\n_a: hunter2\n---\nkind: Secret\npassword: hunter2\n',
  'secret.test.yaml': 'kind: Secret\npassword: hunter2\n',
};

describe('a file that is not a configuration', () => {
  it.each(['validate', 'run', 'graph', 'test'])('is not quoted by %s', async (command) => {
    const cwd = folderWith(FOREIGN);
    const { code, stdout, stderr } = await runCommand([command, ...Object.keys(FOREIGN)], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    // No line of a file, neither a key nor a value of it.
    expect(stderr).not.toMatch(/hunter2|aHVud|^ *\d+ \||_apt|ada|DATABASE|TOKEN|private_key|password|kind/m);
    expect(
      stderr.match(/^\S+: this is not a millrace configuration|^\S+: the file holds a single value/gm),
    ).toHaveLength(Object.keys(FOREIGN).length);
  });
});
