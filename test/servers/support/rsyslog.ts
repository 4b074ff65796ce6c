import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { listens, Restartable } from './restartable.ts';
import { freePort, serverFolder, startServer } from './start-server.ts';

/** A message that rsyslog got. */
export interface SyslogRow {
  readonly pri: string;
  /** RFC 3339. */
  readonly ts: string;
  readonly host: string;
  readonly app: string;
  readonly procid: string;
  readonly msgid: string;
  /** Structured data, as it was sent. */
  readonly sd: string;
  readonly msg: string;
  /** The input: `imudp`, `imptcp`, `imtcp` for TLS, or `imrelp`. */
  readonly in: string;
}

/** An rsyslog server, which writes what it gets to a file. */
export interface Rsyslog extends Restartable {
  /** Addresses, as `host:port`: one for UDP and TCP, one for RELP, and one for TLS if it has a certificate. */
  readonly address: string;
  readonly relp: string;
  readonly tls: string;
  /** The folder with its data, its working directory. */
  readonly folder: string;
  /** @param program only messages of this one. */
  rows(program?: string): SyslogRow[];
  /** Waits until half a second has passed in which it wrote nothing. */
  settled(): Promise<void>;
}

export interface RsyslogOptions {
  /** Paths of PEM files. With them, it listens for TLS. */
  readonly tls?: { readonly ca: string; readonly certificate: string; readonly key: string };
  /** Lines of its configuration that come before the inputs. */
  readonly global?: string;
  /** More lines of its configuration, as for sending. */
  readonly config?: string;
}

/** Starts rsyslog: `skipWithout('rsyslogd')`. */
export async function startRsyslog({ tls, global = '', config = '' }: RsyslogOptions = {}): Promise<Rsyslog> {
  const folder = serverFolder('rsyslog');
  const ports = { plain: await freePort(), relp: await freePort(), tls: await freePort() };
  const output = join(folder, 'out.jsonl');
  const drivers = tls
    ? ` DefaultNetstreamDriverCAFile="${tls.ca}" DefaultNetstreamDriverCertFile="${tls.certificate}" DefaultNetstreamDriverKeyFile="${tls.key}"`
    : '';
  const listen = (port: number) => `address="127.0.0.1" port="${port}" ruleset="write"`;
  const property = (outname: string, name: string, more = '') =>
    `property(outname="${outname}" name="${name}"${more} format="jsonf")`;
  const file = join(folder, 'rsyslog.conf');
  writeFileSync(
    file,
    `global(workDirectory="${folder}"${drivers} maxMessageSize="64k")
${global}
module(load="imudp") module(load="imptcp") module(load="imrelp")
template(name="json" type="list" option.jsonf="on") {
  ${property('pri', 'pri')}
  ${property('ts', 'timereported', ' dateFormat="rfc3339"')}
  ${property('host', 'hostname')}
  ${property('app', 'app-name')}
  ${property('procid', 'procid')}
  ${property('msgid', 'msgid')}
  ${property('sd', 'structured-data')}
  ${property('msg', 'msg')}
  ${property('in', 'inputname')}
}
ruleset(name="write") { action(type="omfile" file="${output}" template="json") }
input(type="imudp" ${listen(ports.plain)})
input(type="imptcp" ${listen(ports.plain)})
input(type="imrelp" ${listen(ports.relp)} maxDataSize="64k")
${
  tls === undefined
    ? ''
    : `module(load="imtcp" StreamDriver.Name="gtls" StreamDriver.Mode="1" StreamDriver.AuthMode="anon")
input(type="imtcp" ${listen(ports.tls)})`
}
${config}
`,
  );
  const args = ['-n', '-f', file, '-i', join(folder, 'rsyslogd.pid')];
  const server = await Restartable.start(() =>
    startServer('rsyslogd', args, () => listens(ports.relp), { cwd: folder }),
  );
  const rows = (program?: string) =>
    (existsSync(output) ? readFileSync(output, 'utf8') : '')
      .split('\n')
      .filter((line) => line.endsWith('}') && (program === undefined || line.includes(`"app":"${program}"`)))
      .map((line) => JSON.parse(line) as SyslogRow);
  const size = () => statSync(output, { throwIfNoEntry: false })?.size ?? 0;
  const settled = async () => {
    let before = -1;
    while (before !== size()) {
      before = size();
      await delay(500);
    }
  };
  const addresses = {
    address: `127.0.0.1:${ports.plain}`,
    relp: `127.0.0.1:${ports.relp}`,
    tls: `127.0.0.1:${ports.tls}`,
  };
  return Object.assign(server, addresses, { folder, rows, settled });
}
