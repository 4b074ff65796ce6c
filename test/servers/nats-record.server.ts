import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { folderWith, runCli, startCli } from '../support/cli.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { NatsServer } from './support/nats.ts';
import { skipWithout } from './support/start-server.ts';

const temp = tempFolder();
const SECRET = 'xK29sjw8f7s';

const config = (url: string) => `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { secrets: { plugin: redact } }
forwarders:
  fleet:
    plugin: nats
    servers: ${url}
    subject: logs.app
    stream: LOGS
    create: true
    batch: { events: 2, seconds: 0.1 }
    concurrency: 2
pipelines: { web: { collect: log, process: secrets, forward: fleet, exactly_once: true } }
host_config: {}
`;

skipWithout('nats-server')('a recording of a pipeline that delivers exactly once to NATS', () => {
  it('replays an outage of the server', async () => {
    const server = await NatsServer.start(temp('nats'));
    await server.kill();
    const lines = ['first', `password=${SECRET}`, 'third', 'first', 'last'];
    const cwd = folderWith({ 'web.yaml': config(server.url), 'in.log': `${lines.join('\n')}\n` });
    const cli = await startCli(['record', 'web.yaml', '--pipeline', 'web', '--once'], { cwd });
    await cli.shows('stderr', /attempt 1 failed/);
    await server.start();
    const recorded = await cli.ended();
    expect(recorded).toMatchObject({ code: 0 });
    expect(recorded.stderr).not.toContain('the replay differs');
    expect(recorded.stdout).toMatch(/delivered by fleet +5 +5$/m);
    expect(recorded.stdout).toMatch(/fails: true, backoff: /);
    expect(recorded.stdout + recorded.stderr).not.toContain(SECRET);
    writeFileSync(join(cwd, 'incident.test.yaml'), recorded.stdout);
    expect(await runCli(['test', 'incident.test.yaml'], { cwd })).toMatchObject({ code: 0 });
  });
});
