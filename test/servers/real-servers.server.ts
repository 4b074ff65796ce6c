import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { writeJournal } from './support/journal.ts';
import { startKafka } from './support/kafka.ts';
import { startOpenSearch } from './support/opensearch.ts';
import { startOtelCollector } from './support/otel-collector.ts';
import { startRsyslog } from './support/rsyslog.ts';
import { freePort, serverFolder, skipWithout } from './support/start-server.ts';
import { startSyslogNg } from './support/syslog-ng.ts';
import { startVersityGw } from './support/versity-gw.ts';
import { startVictoriaLogs } from './support/victoria-logs.ts';

// Other tests rely on this: each server takes what they send, shows it, and still has it after a kill.

const post = async (url: string, body: string, type: string) => {
  const { status } = await fetch(url, { method: 'POST', body, headers: { 'content-type': type } });
  expect(status).toBeLessThan(300);
};

/** Sends bytes over TCP to `host:port`, and ends. */
async function send(address: string, text: string): Promise<void> {
  const [host, port] = address.split(':');
  const socket = connect(Number(port), host as string);
  socket.end(text);
  await once(socket.resume(), 'close');
}

skipWithout('victoria-logs')('VictoriaLogs', () => {
  it('keeps what it took over a restart', async () => {
    const server = await startVictoriaLogs();
    const line = (n: number) => `{"_msg":"line ${n}","_time":"2026-01-02T03:04:05Z","app":"test"}\n`;
    await post(
      `${server.url}/insert/jsonline?_stream_fields=app`,
      line(1) + line(2),
      'application/stream+json',
    );
    await send(server.syslog, '<34>1 2026-01-02T03:04:05Z host app - - - hello\n');
    await eventually(async () => (await server.rows()).length === 3);
    expect(await server.rows('app:=test "line 2"')).toEqual([
      expect.objectContaining({ _msg: 'line 2', _time: '2026-01-02T03:04:05Z' }),
    ]);
    await server.rows();
    await server.restart();
    expect(await server.rows()).toHaveLength(3);
  });
});

skipWithout('opensearch')('OpenSearch', () => {
  it('keeps what it took, also if it is killed', async () => {
    const server = await startOpenSearch();
    expect(await server.count('logs')).toBe(0);
    for (let n = 0; n < 3; n++) await server.request('PUT', `logs/_create/${n}`, { line: `line ${n}` });
    await expect(server.request('PUT', 'logs/_create/1', {})).rejects.toThrow(/^409/);
    await server.kill();
    await server.restart();
    expect(await server.count('logs')).toBe(3);
    const documents = await server.documents('logs');
    expect(documents.map(({ _id, _source }) => [_id, _source.line]).sort()).toEqual([
      ['0', 'line 0'],
      ['1', 'line 1'],
      ['2', 'line 2'],
    ]);
  });
});

skipWithout('kafka')('Kafka', () => {
  it('has the topics that are created, also if it is killed', async () => {
    const server = await startKafka();
    await server.createTopic('logs', 2);
    await server.kill();
    await server.restart();
    expect(await server.records('logs')).toEqual([]);
  });
});

skipWithout('rsyslogd')('rsyslog', () => {
  it('writes what it gets over UDP and TCP', async () => {
    const server = await startRsyslog();
    const [host, port] = server.address.split(':');
    await send(server.address, '<34>1 2026-01-02T03:04:05Z web nginx 7 id [a@1 b="c"] over TCP\n');
    const socket = createSocket('udp4');
    socket.send('<34>1 2026-01-02T03:04:05Z web nginx 7 id - over UDP', Number(port), host);
    await eventually(() => server.rows().length === 2);
    socket.close();
    await server.kill();
    await server.restart();
    expect(server.rows()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ app: 'nginx', sd: '[a@1 b="c"]', msg: 'over TCP', in: 'imptcp' }),
        expect.objectContaining({ host: 'web', msg: 'over UDP', in: 'imudp' }),
      ]),
    );
  });
});

skipWithout('syslog-ng')('syslog-ng', () => {
  it('runs with a configuration', async () => {
    const port = await freePort();
    const server = await startSyslogNg(
      (folder) => `
source s { network(ip("127.0.0.1") port(${port}) transport("tcp") flags(syslog-protocol)); };
destination d { file("${folder}/out.log"); };
log { source(s); destination(d); };`,
    );
    const written = () => readFileSync(join(server.folder, 'out.log'), 'utf8');
    for (const text of ['first', 'second']) {
      await send(`127.0.0.1:${port}`, `<34>1 2026-01-02T03:04:05Z web nginx 7 id - ${text}\n`);
      await eventually(() => written().includes(text), 60_000);
      await server.restart();
    }
  });
});

skipWithout('systemd-journal-remote', 'journalctl')('a journal', () => {
  it('has the entries that were written, also those that were appended', () => {
    const file = join(serverFolder('journal'), 'test.journal');
    const entry = (n: number, MESSAGE: string) => ({
      __REALTIME_TIMESTAMP: `${1_700_000_000_000_000 + n}`,
      __MONOTONIC_TIMESTAMP: `${n}`,
      _BOOT_ID: '0123456789abcdef0123456789abcdef',
      _SYSTEMD_UNIT: 'web.service',
      PRIORITY: '6',
      MESSAGE,
    });
    writeJournal(file, [entry(1, 'first'), entry(2, 'two\nlines: ü')]);
    writeJournal(file, [entry(3, 'third')]);
    const text = execFileSync('journalctl', ['--file', file, '-o', 'json'], { encoding: 'utf8' });
    const messages = text.trim().split('\n');
    expect(messages.map((line) => JSON.parse(line).MESSAGE)).toEqual(['first', 'two\nlines: ü', 'third']);
  });
});

skipWithout('otelcol')('the OpenTelemetry Collector', () => {
  it('sends on what it took, also after a restart', async () => {
    const server = await startOtelCollector();
    const logs = (text: string) =>
      JSON.stringify({
        resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: text } }] }] }],
      });
    await post(`${server.url}/v1/logs`, logs('first'), 'application/json');
    await server.restart();
    await post(`${server.url}/v1/logs`, logs('second'), 'application/json');
    await eventually(() => server.records().length === 2);
    expect(server.records().map(({ body }) => body?.stringValue)).toEqual(['first', 'second']);
    await server.sink.close();
  });
});

skipWithout('versitygw')('versitygw', () => {
  it('refuses requests that are not signed', async () => {
    const server = await startVersityGw();
    server.createBucket('logs');
    expect((await fetch(`${server.url}/logs/a`, { method: 'PUT', body: 'x' })).status).toBe(403);
    await server.restart();
    expect([...server.objects('logs').keys()]).toEqual([]);
  });
});
