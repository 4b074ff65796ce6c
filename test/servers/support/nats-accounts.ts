import { nkeys } from '@nats-io/transport-node';

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** A server's configuration for one user who logs in with an NKey, and the seed of that key. */
export function nkeyUser(): { readonly config: string; readonly seed: string } {
  const user = nkeys.createUser();
  return { config: `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`, seed: seedOf(user) };
}

/**
 * A server's configuration with an operator and an account, as `nsc` makes it, and a `.creds` file of a user of that
 * account, who may publish messages of at most `payload` bytes.
 */
export function credsUser(payload = -1): {
  readonly config: string;
  readonly creds: string;
  readonly seed: string;
} {
  const [operator, system, account] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
  const user = nkeys.createUser();
  const unlimited = {
    subs: -1,
    data: -1,
    payload: -1,
    conn: -1,
    leaf: -1,
    imports: -1,
    exports: -1,
    wildcards: true,
  };
  const jetStream = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const accountToken = (key: KeyPair, limits: object) =>
    token(key, operator, { type: 'account', version: 2, limits });
  const config = `
operator: "${token(operator, operator, { type: 'operator', version: 2 })}"
system_account: ${system.getPublicKey()}
resolver: MEMORY
resolver_preload: {
  ${system.getPublicKey()}: "${accountToken(system, unlimited)}"
  ${account.getPublicKey()}: "${accountToken(account, { ...unlimited, ...jetStream })}"
}`;
  const limits = { subs: -1, data: -1, payload };
  const creds = `-----BEGIN NATS USER JWT-----
${token(user, account, { type: 'user', version: 2, ...limits, pub: {}, sub: {} })}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seedOf(user)}
------END USER NKEY SEED------
`;
  return { config, creds, seed: seedOf(user) };
}

/** A JWT about `subject`, signed by `issuer`. */
function token(subject: KeyPair, issuer: KeyPair, nats: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    jti: subject.getPublicKey(),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    name: 'test',
    sub: subject.getPublicKey(),
    nats,
  };
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(claims)}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
}

function seedOf(key: KeyPair): string {
  return new TextDecoder().decode(key.getSeed());
}
