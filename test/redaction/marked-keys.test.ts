import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

/*
 * Keys with brackets and other signs behind the name of a secret, as forms, PHP and Rails write them.
 */

const redactor = createRedactor(RedactProcessConfig.parse({ plugin: 'redact' }), {
  now: () => 0,
  onMask: () => {},
});
const SECRET = 'Xk9q2Zz7';

describe('a key with signs', () => {
  it.each([
    'user[password]',
    'env[DB_PASSWORD]',
    'passwords[0]',
    'password[]',
    'user[password][0]',
    'user[passwords][]',
    'password*',
    'password?',
    'password (again)',
    'Passwort (wiederholen)',
    '(password)',
    '{password}',
    '$password$',
    "['password']",
    'user["password"]',
  ])('%s is the name of a secret', (key) => {
    const event = { params: { [key]: SECRET } };
    const masked = { params: { [key]: '<:password:>' } };
    const line = JSON.stringify(event);
    expect(JSON.parse(redactor.maskText(line))).toEqual(masked);
    expect(redactor.maskEvent({ data: event })).toEqual({ data: masked });
    const outer = redactor.maskText(JSON.stringify({ log: line }));
    expect(JSON.parse((JSON.parse(outer) as { log: string }).log)).toEqual(masked);
  });

  it.each([
    'session[password]: ',
    'password[]=',
    'passwords[0]=',
    'passwords[0] = ',
    'user[password][]=',
    'password (again): ',
    'password*: ',
    'GET /login?user=bob&password[]=',
    'GET /login?password[0]=',
    'GET /login?password%5B%5D=',
    'GET /login?user%5Bpassword%5D%5B0%5D=',
  ])('%s is one in text', (key) => {
    const masked = redactor.maskText(`${key}${SECRET}`);
    expect(masked.replace(/<:\w+:>$/, '')).toBe(key);
  });

  it.each([
    'Jun  6 06:50:24 host gdm-password][2173]: pam_unix(gdm-password:auth): authentication failure',
    'Jun  6 06:50:24 host gdm-password]: gkr-pam: unable to locate daemon control file',
    'Jun  6 06:50:24 host passwd[2173]: pam_unix(passwd:chauthtok): password changed for root',
    '{"password*":"required","password[]":["required"]}',
  ])('%s has no secret', (line) => {
    expect(redactor.maskText(line)).toBe(line);
  });
});
