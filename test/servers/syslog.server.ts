import fs from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { loadConfig } from '../../src/config/load-config.ts';
import { Manager } from '../../src/engine/manager.ts';
import { ROOT } from '../support/build.ts';
import { eventually } from '../support/eventually.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { CertificateAuthority } from './support/certificates.ts';
import { listens } from './support/restartable.ts';
import { startRsyslog } from './support/rsyslog.ts';
import { freePort, skipWithout } from './support/start-server.ts';
import { startVictoriaLogs } from './support/victoria-logs.ts';

const folder = tempFolder();
const managers: Manager[] = [];
afterEach(async () => {
  for (const manager of managers.splice(0)) await lastValueFrom(manager.stop(), { defaultValue: undefined });
});

/**
 * Runs the pipelines of a configuration in this process, and waits until they listen: rsyslog sends the first message of its
 * queue twice over RELP if nobody listened before.
 */
async function run(yaml: string, ...ports: readonly (number | string)[]): Promise<void> {
  const file = folder(`config-${managers.length}.yaml`);
  fs.writeFileSync(file, yaml);
  const { config } = await loadConfig([file]);
  const manager = new Manager(config);
  managers.push(manager);
  manager.start();
  for (const port of ports) await eventually(async () => expect(await listens(Number(port))).toBe(true));
}

const read = (name: string) =>
  (fs.existsSync(folder(name)) ? fs.readFileSync(folder(name), 'utf8') : '')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as { timestamp: string; data: Record<string, unknown> });

function send(address: string, text: string): void {
  const [host, port] = address.split(':');
  connect(Number(port), host as string).end(text);
}

const COUNT = 500;
const lines = Array.from(
  { length: COUNT },
  (_, n) => `<165>1 2026-01-02T03:04:05.678Z web1 app 42 ID [a@1 b="c"] message ${n} password=hunter2`,
);

skipWithout('rsyslogd', 'openssl')('syslog with rsyslog', () => {
  it('receives over RELP, TLS, and TCP with both framings', async () => {
    new CertificateAuthority(folder(), 'ca').issue('server');
    const ports = {
      relp: await freePort(),
      tls: await freePort(),
      tcp: await freePort(),
      input: await freePort(),
    };
    const listen = Object.entries(ports)
      .filter(([scheme]) => scheme !== 'input')
      .map(([scheme, port]) => {
        const tls = `, tls: { cert: { file: ${folder('server.pem')} }, key: { file: ${folder('server.key')} } }`;
        return `  ${scheme}: { plugin: syslog, listen: '${scheme}://127.0.0.1:${port}'${scheme === 'tls' ? tls : ''} }`;
      });
    await run(
      `collectors:
${listen.join('\n')}
forwarders:
  out: { plugin: disk, path: ${folder('in')}, filename: all.json }
pipelines:
  main: { collect: [relp, tls, tcp], forward: out }
host_config: {}
`,
      ...[ports.relp, ports.tls, ports.tcp],
    );
    const to = (type: string, port: number, more = '') =>
      `action(type="${type}" target="127.0.0.1" port="${port}" template="RSYSLOG_SyslogProtocol23Format" action.resumeRetryCount="-1" action.resumeInterval="1" ${more})`;
    const rsyslog = await startRsyslog({
      tls: { ca: folder('ca.pem'), certificate: folder('server.pem'), key: folder('server.key') },
      config: `module(load="omrelp")
ruleset(name="send") {
  ${to('omrelp', ports.relp)}
  ${to('omfwd', ports.tls, 'protocol="tcp" StreamDriver="gtls" StreamDriverMode="1" StreamDriverAuthMode="anon" TCP_Framing="octet-counted"')}
  ${to('omfwd', ports.tcp, 'protocol="tcp" TCP_Framing="octet-counted"')}
  ${to('omfwd', ports.tcp, 'protocol="tcp"')}
}
input(type="imptcp" address="127.0.0.1" port="${ports.input}" ruleset="send")`,
    });
    send(`127.0.0.1:${ports.input}`, `${lines.join('\n')}\n`);
    await eventually(() => expect(read('in/all.json')).toHaveLength(4 * COUNT));
    expect(read('in/all.json')[0]).toEqual({
      timestamp: '2026-01-02T03:04:05.678Z',
      data: {
        ...{
          facility: 'local4',
          severity: 'notice',
          hostname: 'web1',
          appname: 'app',
          procid: '42',
          msgid: 'ID',
        },
        ...{ structured_data: { 'a@1': { b: 'c' } }, source: '127.0.0.1' },
        message: expect.stringMatching(/^message \d+ password=hunter2$/),
      },
    });
    await rsyslog.stop();
  });

  it('sends over TCP, TLS and RELP, with all fields', async () => {
    new CertificateAuthority(folder(), 'ca').issue('server');
    const rsyslog = await startRsyslog({
      tls: { ca: folder('ca.pem'), certificate: folder('server.pem'), key: folder('server.key') },
    });
    const input = await freePort();
    await run(`collectors:
  in: { plugin: syslog, listen: 'tcp://127.0.0.1:${input}' }
forwarders:
  tcp: { plugin: syslog, url: 'tcp://${rsyslog.address}' }
  tls: { plugin: syslog, url: 'tls://${rsyslog.tls}', tls: { ca: { file: ${folder('ca.pem')} } } }
  relp: { plugin: syslog, url: 'relp://${rsyslog.relp}' }
pipelines:
  main: { collect: in, forward: [tcp, tls, relp] }
host_config: {}
`);
    await eventually(async () => {
      const socket = connect(input, '127.0.0.1');
      await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
      socket.end(`${lines.join('\n')}\n`);
    });
    await eventually(() => expect(rsyslog.rows()).toHaveLength(3 * COUNT));
    const inputs = new Map<string, number>();
    for (const row of rsyslog.rows()) inputs.set(row.in, (inputs.get(row.in) ?? 0) + 1);
    expect(Object.fromEntries(inputs)).toEqual({ imptcp: COUNT, imtcp: COUNT, imrelp: COUNT });
    expect(rsyslog.rows()[0]).toMatchObject({
      ...{ pri: '165', host: 'web1', app: 'app', procid: '42', msgid: 'ID', sd: '[a@1 b="c"]' },
      msg: expect.stringMatching(/^message \d+ password=hunter2$/),
    });
  });

  it('runs the recipe docs/recipes/rsyslog-fleet.md', async () => {
    const page = fs.readFileSync(join(ROOT, 'docs/recipes/rsyslog-fleet.md'), 'utf8');
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
    const [, conf = ''] = /```text\n(.*?)```/s.exec(page) ?? [];
    const [port, input] = [String(await freePort()), await freePort()];
    await run(
      yaml
        .replace('2514', port)
        .replace('path: archive', `path: ${folder('archive')}`)
        .replace('path: buffer', `path: ${folder('buffer')}`),
      port,
    );
    const [module = '', action = ''] = conf.replace('2514', port).split(/\n(?=action)/);
    await startRsyslog({
      config: `${module}\nruleset(name="send") { ${action} }\ninput(type="imptcp" address="127.0.0.1" port="${input}" ruleset="send")`,
    });
    send(`127.0.0.1:${input}`, `${lines.join('\n')}\n`);
    await eventually(() => expect(read('archive/fleet.ndjson')).toHaveLength(COUNT));
    const messages = read('archive/fleet.ndjson').map(({ data }) => String(data.message));
    expect(messages[0]).toMatch(/^message \d+ password=<:password:>$/);
    expect(messages.join()).not.toContain('hunter2');
  });
});

skipWithout('victoria-logs')('syslog to VictoriaLogs', () => {
  it('stores each message', async () => {
    const server = await startVictoriaLogs();
    const input = await freePort();
    await run(`collectors:
  in: { plugin: syslog, listen: 'tcp://127.0.0.1:${input}' }
forwarders:
  out: { plugin: syslog, url: 'tcp://${server.syslog}' }
pipelines:
  main: { collect: in, forward: out }
host_config: {}
`);
    await eventually(async () => {
      const socket = connect(input, '127.0.0.1');
      await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
      socket.end(`${lines.join('\n')}\n`);
    });
    await eventually(async () => expect(await server.rows()).toHaveLength(COUNT));
    expect((await server.rows())[0]).toMatchObject({
      hostname: 'web1',
      app_name: 'app',
      proc_id: '42',
      facility: '20',
    });
  });
});
