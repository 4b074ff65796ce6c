import { describe, expect, it } from '@jest/globals';
import { folderWith, runShell } from '../support/cli.ts';

/* `millrace hash`: what values look like in events that were masked with a key, also with an earlier one. */

const CONFIG = `
collectors:
  in: { plugin: stdin }
processors:
  secrets:
    plugin: redact
    packs: [pii/contact]
    action: { default: { hmac: { keys: [{ key_env: KEY_2026 }, { key_env: KEY_2025 }] } } }
forwarders:
  out: { plugin: stdout }
pipelines:
  main: { collect: in, process: secrets, forward: out }
host_config: {}
`;
const OLD_CONFIG = CONFIG.replace(
  'keys: [{ key_env: KEY_2026 }, { key_env: KEY_2025 }]',
  'key_env: KEY_2025',
);

describe('millrace hash', () => {
  it('finds events under the key of today and under an earlier one, and never shows the value', async () => {
    const cwd = folderWith({ 'old.yaml': OLD_CONFIG, 'new.yaml': CONFIG });
    const script = `
      export KEY_2025=an-old-key
      echo 'old: ada@example.org' | millrace run old.yaml > masked.jsonl 2>/dev/null
      export KEY_2026=a-new-key
      echo 'new: ada@example.org, bob@example.org' | millrace run new.yaml >> masked.jsonl 2>/dev/null
      echo ada@example.org | millrace hash new.yaml | tee hashes
      cut -f1 hashes | grep -cFf - masked.jsonl
      cut -f1 hashes | grep -oFf - masked.jsonl | wc -l`;
    const { code, stdout, stderr } = await runShell(script, { cwd });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^[0-9a-f]{12}\tKEY_2026\n[0-9a-f]{12}\tKEY_2025\n2\n2\n$/);
    expect(code).toBe(0);
  });

  it('says which keys are missing, and which configuration has none', async () => {
    const cwd = folderWith({ 'new.yaml': CONFIG, 'none.yaml': CONFIG.replace(/action: .*/, '') });
    const missing = await runShell('echo ada@example.org | KEY_2026=a-new-key millrace hash new.yaml', {
      cwd,
    });
    expect(missing).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^[0-9a-f]{12}\tKEY_2026\n$/),
      stderr: expect.stringContaining('KEY_2025 is not set'),
    });
    const none = await runShell('echo ada@example.org | millrace hash none.yaml', { cwd });
    expect(none).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('has a key') });
    const unset = await runShell('echo ada@example.org | millrace hash new.yaml', { cwd });
    expect(unset).toMatchObject({ code: 2, stderr: expect.stringContaining('KEY_2026 is not set') });
  });
});
