import { expect, it } from '@jest/globals';
import { compileMaskRules } from '../../operators/masks/compile-mask-rules.ts';
import { folderWith, runCli } from '../support/cli.ts';
import { rulesOf } from './packs.ts';

it('finds a key of PuTTY, and one whose end is missing in front of it', () => {
  const secret = 'AAAAgQDxP3kz9mQw7LrT5vNcB2sYhJ8dFgKx0Zu4E6pRtWqV';
  const key = `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n${secret}\n`;
  const { mask } = compileMaskRules(rulesOf(['secrets/keys']));
  const masked = mask(`a ${key}b ${key}Private-MAC: ${'0a'.repeat(32)} c`);
  expect(masked).toBe('a <:putty-private-key:><:putty-private-key:> c');
});

it('finds a token that follows other letters', async () => {
  const token =
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
  const cwd = folderWith({ 'a.log': `accesstoken${token}\nx\\n${token}\n${'_'.repeat(31)}${token}\n` });
  const { stdout } = await runCli(['redact', 'a.log'], { cwd });
  expect(stdout).not.toContain('eyJ');
});
