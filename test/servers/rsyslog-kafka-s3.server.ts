import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, it } from '@jest/globals';
import { byForm } from '../faults/support/form.ts';
import { ROOT } from '../support/build.ts';
import { type CliProcess, folderWith, startCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { type Kafka, startKafka } from './support/kafka.ts';
import { startRsyslog } from './support/rsyslog.ts';
import { freePort, skipWithout } from './support/start-server.ts';
import { startVersityGw, type VersityGw } from './support/versity-gw.ts';

const MESSAGES = byForm({ short: 3000, long: 60_000 });
const KILLS = 3;
const TIMEOUT = byForm({ short: 600_000, long: 900_000 });

const page = (name: string) => readFileSync(join(ROOT, 'docs/recipes', name), 'utf8');
const codeOf = (name: string, language: string) =>
  [...page(name).matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code = '']) => code);
const message = (n: number) =>
  `<165>1 2026-11-26T10:00:00.000Z web${n % 5} app 42 ID - message ${n} password=hunter2-${n}\n`;

skipWithout(
  'rsyslogd',
  'kafka',
  'versitygw',
)('docs/recipes/rsyslog-kafka-s3.md', () => {
  const running = new Map<string, CliProcess>();
  const servers: (Kafka | VersityGw)[] = [];
  afterEach(async () => {
    for (const process of running.values()) process.kill('SIGKILL');
    await Promise.all([...running.values()].map((process) => process.ended()));
    await Promise.all(servers.map((server) => server.stop()));
  });

  it(
    'brings every message to S3, masked, however often its processes are killed',
    async () => {
      const [broker, store] = await Promise.all([startKafka(), startVersityGw()]);
      servers.push(broker, store);
      const [relp, input] = [await freePort(), await freePort()];
      await broker.createTopic('fleet', 6);
      store.createBucket('fleet');
      const [gateway = '', archive = ''] = codeOf('rsyslog-kafka-s3.md', 'yaml').map((yaml) =>
        yaml
          .replaceAll('localhost:9092', broker.broker)
          .replace('127.0.0.1:2514', `127.0.0.1:${relp}`)
          .replace('http://localhost:9000', store.url)
          .replace('seconds: 60', 'seconds: 1'),
      );
      const cwd = folderWith({ 'gateway.yaml': gateway, 'archive.yaml': archive });
      const env = { AWS_ACCESS_KEY_ID: store.accessKey, AWS_SECRET_ACCESS_KEY: store.secretKey };
      const start = async (name: string) => {
        running.set(
          name,
          await startCli(['run', `${name}.yaml`, '--state-dir', `${name}-state`], { cwd, env }),
        );
      };
      const kill = async (name: string) => {
        running.get(name)?.kill('SIGKILL');
        await running.get(name)?.ended();
      };
      const archived = () =>
        [...store.objects('fleet').values()].flatMap((object) =>
          gunzipSync(object).toString().trimEnd().split('\n'),
        );
      const numbers = () => archived().map((line) => Number(/message (\d+) /.exec(line)?.[1]));

      const [, conf = ''] = /```text\n(.*?)```/s.exec(page('rsyslog-fleet.md')) ?? [];
      const [module = '', action = ''] = conf.replace('2514', String(relp)).split(/\n(?=action)/);
      await startRsyslog({
        config: `${module}
ruleset(name="send") { ${action.replace('resumeInterval="5"', 'resumeInterval="1"')} }
input(type="imptcp" address="127.0.0.1" port="${input}" ruleset="send")`,
      });
      await Promise.all(['gateway', 'archive'].map(start));
      const sender = connect(input, '127.0.0.1');
      await once(sender, 'connect');
      for (let n = 0; n < KILLS; n++) {
        const [first, next] = [(n * MESSAGES) / KILLS, ((n + 1) * MESSAGES) / KILLS];
        for (let i = first; i < next; i++) sender.write(message(i));
        const before = store.objects('fleet').size;
        await eventually(() => store.objects('fleet').size > before, TIMEOUT);
        for (const name of ['gateway', 'archive']) {
          await kill(name);
          await start(name);
        }
      }
      sender.end();
      await eventually(async () => {
        // Reading all objects keeps a processor busy.
        await delay(500);
        return new Set(numbers()).size === MESSAGES;
      }, TIMEOUT);
      const all = archived();
      console.info(`${MESSAGES} messages over ${KILLS} kills of both: ${all.length - MESSAGES} came again`);
      expect(all.join()).not.toContain('hunter2');
      expect(JSON.parse(all[0] as string)).toMatchObject({
        data: {
          hostname: expect.stringMatching(/^web\d$/),
          message: expect.stringContaining('<:password:>'),
        },
      });
      for (const { value } of await broker.records('fleet')) expect(value).not.toContain('hunter2');
      for (const { stderr } of running.values()) expect(stderr).not.toContain('hunter2');
    },
    TIMEOUT,
  );
});
