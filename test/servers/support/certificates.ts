import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes certificates in a folder with openssl: `<name>.pem` and `<name>.key`. */
export class CertificateAuthority {
  readonly #folder: string;
  readonly #name: string;

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
    this.#openssl(
      'req',
      '-x509',
      ...newKey(name),
      '-out',
      `${name}.pem`,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
    );
  }

  /** A certificate for 127.0.0.1, of a server or a client. One for -1 days has expired. */
  issue(name: string, days = 2): void {
    writeFileSync(join(this.#folder, `${name}.ext`), 'subjectAltName=IP:127.0.0.1\n');
    this.#openssl('req', ...newKey(name), '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    const signer = ['-CA', `${this.#name}.pem`, '-CAkey', `${this.#name}.key`, '-CAcreateserial'];
    const files = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', `${name}.ext`];
    this.#openssl('x509', '-req', ...files, ...signer, '-days', String(days));
  }

  #openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { cwd: this.#folder, stdio: 'pipe' });
  }
}

function newKey(name: string): string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${name}.key`];
}
