import { describe, expect, it } from '@jest/globals';
import { CHECKS } from '../../operators/masks/checks/index.ts';

const passes = (check: string, value: string) => CHECKS[check]?.(value, value, 0);

describe('checks of values', () => {
  // Examples from the documentation of the numbers, and the same with a digit changed.
  it.each([
    ['card', '4111111111111111', '4111111111111112'],
    ['card', '3782 822463 10005', '3782 822463 10006'],
    ['card', '5555-5555-5555-4444', '1555-5555-5555-4444'],
    ['iban', 'DE89 3704 0044 0532 0130 00', 'DE89 3704 0044 0532 0130 01'],
    ['iban', 'GB82WEST12345698765432', 'GB82WEST1234569876543'],
    ['bic', 'DEUTDEFF500', 'DEUTXXFF'],
    ['us_ssn', '457-55-5462', '666-55-5462'],
    ['uk_nino', 'AB123456C', 'QQ123456C'],
    ['de_tax_id', '86095742719', '86095742718'],
    ['fr_nir', '255081416802538', '255081416802539'],
    ['es_dni', '12345678Z', '12345678A'],
    ['es_dni', 'X1234567L', 'Y1234567L'],
    ['it_codice_fiscale', 'RSSMRA85T10A562S', 'RSSMRA85T10A562T'],
    ['nl_bsn', '111222333', '111222334'],
    ['pl_pesel', '44051401359', '44051401358'],
    ['se_personnummer', '811218-9876', '811218-9875'],
    ['br_cpf', '529.982.247-25', '529.982.247-24'],
    ['br_cnpj', '11.222.333/0001-81', '11.222.333/0001-82'],
    ['in_aadhaar', '999941057058', '999941057059'],
    ['in_pan', 'ABCPE1234F', 'ABCXE1234F'],
    ['phone', '+44 20 7946 0958', '+999 20 7946 0958'],
    ['phone', '(212) 555-0123', '(112) 555-0123'],
    ['ipv4', '192.0.2.1', '127.0.0.1'],
    ['ipv6', '2001:db8::1', '::1'],
    ['ipv6', '::ffff:192.0.2.1', '1:2:3:4:5:6:7'],
    ['mac', '00:00:5e:00:53:01', '00:00:00:00:00:00'],
  ])('%s takes %s, and not %s', (check, valid, invalid) => {
    expect(passes(check, valid)).toBe(true);
    expect(passes(check, invalid)).toBe(false);
  });

  it('takes a token of npm by its checksum, as in the example of secretlint (issue 200)', () => {
    const token = ['npm', 'qkJaB6MffYVzZXWqmcoF49yrUxP3wf0LsakP'];
    expect(passes('crc32', token.join('_'))).toBe(true);
    expect(passes('crc32', token.join('_').replace('q', 'r'))).toBe(false);
  });

  it('takes for a JSON Web Token only what has the header of one', () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    expect(passes('jwt', `${encode({ alg: 'HS256' })}.e30.x`)).toBe(true);
    expect(passes('jwt', `${encode({ name: 'x' })}.e30.x`)).toBe(false);
    expect(passes('jwt', 'eyJub3Q.e30.x')).toBe(false);
  });

  it.each([
    ['password', 'hunter'],
    ['password', 'Tr0ub4dor&3'],
    ['password', '12345678'],
    ['secret', 's3cr3t-Value'],
    ['token', '3f2a9c1e-8d4b-4c6f-9a1b-0123abcd4567'],
    ['token', '9f86d081884c7d659a2feaa0c55ad015'],
  ])('%s takes %s', (check, value) => {
    expect(passes(check, value)).toBe(true);
  });

  it.each([
    ['password', '/etc/passwd'],
    ['password', 'config.database.password'],
    ['password', 'getPassword()'],
    ['password', 'must be at least 8 characters'],
    ['password', 'https://example.com/reset'],
    ['password', '1234'],
    ['secret', 'kube-system/registry-credentials'],
    ['token', 'identifier'],
    ['token', '0x14ede63a5a70004'],
    ['token', 'android.os.BinderProxy@4f3a2b1'],
    ['token', '2026-11-22T18:00:00Z'],
    ['token', 'SomeTokenProviderFactory'],
    ['token', 'worker12'],
  ])('%s leaves %s', (check, value) => {
    expect(passes(check, value)).toBe(false);
  });
});
