import { expect, it } from '@jest/globals';
import { folderWith, runCli } from '../support/cli.ts';

it('reads a long text that looks like the start of a token at each place, instead of withholding it', async () => {
  const text = `${'eyJ'.repeat(1_300_000)}\n`;
  const cwd = folderWith({ 'a.log': text });
  const { code, stdout, stderr } = await runCli(['redact', 'a.log'], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(text);
});

it('finds a token that follows other letters', async () => {
  const token =
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
  const cwd = folderWith({ 'a.log': `accesstoken${token}\nx\\n${token}\n${'_'.repeat(31)}${token}\n` });
  const { stdout } = await runCli(['redact', 'a.log'], { cwd });
  expect(stdout).not.toContain('eyJ');
});
