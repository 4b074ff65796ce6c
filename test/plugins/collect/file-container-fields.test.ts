import fs from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { testing } from '../../../plugins/collect/file.ts';
import { FileCollectConfig } from '../../../plugins/file-collector/file-config.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { Manager } from '../../../src/engine/manager.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const ID = '3f1e'.repeat(16);
const UID = '8ba3a5f1-7a0e-4c53-9d2b-0c6d54d32f8b';

/** The events of a pipeline that reads one line at a path below a folder of the test. */
async function eventsAt(
  path: string,
  line: string,
  {
    processors = {},
    pipeline = {},
    collector = {},
  }: { processors?: object; pipeline?: object; collector?: object } = {},
): Promise<{ data: Record<string, unknown> }[]> {
  fs.mkdirSync(dirname(folder(path)), { recursive: true });
  fs.writeFileSync(folder(path), line);
  const config = await parseConfig({
    collectors: {
      in: { plugin: 'file', paths: [folder(path)], backfill: true, container_fields: true, ...collector },
    },
    processors,
    forwarders: { out: { plugin: 'disk', path: folder('out'), filename: 'a.jsonl', fsync: 'never' } },
    pipelines: {
      main: { collect: 'in', process: Object.keys(processors), forward: 'out', restart: false, ...pipeline },
    },
    host_config: {},
  });
  const manager = new Manager(config, { once: true });
  manager.start();
  const [status] = await firstValueFrom(manager.finished$);
  expect(status).toMatchObject({ state: 'completed' });
  const written = fs.existsSync(folder('out/a.jsonl')) ? fs.readFileSync(folder('out/a.jsonl'), 'utf8') : '';
  return written
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text));
}

const POD = `var/log/containers/web-0.blue_shop_app-server-${ID}.log`;
const POD_FIELDS = {
  kubernetes: { namespace: 'shop', pod_name: 'web-0.blue', container_name: 'app-server', container_id: ID },
};

describe('file with container_fields', () => {
  it.each([
    [POD, POD_FIELDS],
    [
      `host${'/deep'.repeat(3)}/web_shop_a-${ID}.log`,
      { kubernetes: expect.objectContaining({ pod_name: 'web' }) },
    ],
    [
      `var/log/pods/shop_web-0_${UID}/nginx/2.log`,
      { kubernetes: { namespace: 'shop', pod_name: 'web-0', pod_uid: UID, container_name: 'nginx' } },
    ],
    [
      // A static pod: its identity is a hash. The runtime has rotated the log.
      `var/log/pods/kube-system_etcd-node1_${'0a'.repeat(16)}/etcd/0.log.20260102-030405`,
      {
        kubernetes: {
          namespace: 'kube-system',
          pod_name: 'etcd-node1',
          pod_uid: '0a'.repeat(16),
          container_name: 'etcd',
        },
      },
    ],
    [`var/lib/docker/containers/${ID}/${ID}-json.log`, { docker: { container_id: ID } }],
    [`var/lib/docker/containers/${ID}/${ID}-json.log.1`, { docker: { container_id: ID } }],
    // Not those of a container.
    ['var/log/nginx/access.log', {}],
    [`var/log/containers/web_shop_app-${ID.slice(1)}.log`, {}],
    [`var/log/containers/web_shop-${ID}.log`, {}],
    [`var/lib/docker/containers/${ID}/${ID.replace('3', '4')}-json.log`, {}],
    ['var/log/pods/shop_web-0/nginx/0.log', {}],
  ])('adds what %s says', async (path, fields) => {
    const [event, ...others] = await eventsAt(path, 'hello\n');
    expect(others).toEqual([]);
    expect(event?.data).toEqual({ line: 'hello', source: folder(path), ...fields });
  });

  it('adds nothing unless it is asked to', async () => {
    const [event] = await eventsAt(POD, 'hello\n', { collector: { container_fields: false } });
    expect(event?.data).toEqual({ line: 'hello', source: folder(POD) });
  });

  it.each([
    ['a mask', { mask: { plugin: 'regex_mask', rules: { PIN: 'hunter[0-9]' } } }],
    ['packs', { mask: { plugin: 'redact', packs: [], rules: { PIN: 'hunter[0-9]' } } }],
    ['multiline', { join: { plugin: 'multiline', start: '^\\S' } }],
  ])('keeps the fields behind %s', async (_, processors) => {
    const [event] = await eventsAt(POD, 'hello\n', { processors });
    expect(event?.data).toEqual({ line: 'hello', source: folder(POD), ...POD_FIELDS });
  });

  it('keeps the fields in workers', async () => {
    const processors = { mask: { plugin: 'regex_mask', rules: { PIN: 'hunter[0-9]' } } };
    const [event] = await eventsAt(POD, 'x hunter2\n', { processors, pipeline: { workers: 2 } });
    expect(event?.data).toEqual({ line: 'x <:PIN:>', source: folder(POD), ...POD_FIELDS });
  });

  it.each([
    ['json', { format: 'json' }, '{"user":"ada"}', { user: 'ada' }],
    ['logfmt', { format: 'logfmt' }, 'user=ada', { user: 'ada' }],
    ['json, into a field', { format: 'json', into: 'app' }, '{"user":"ada"}', { app: { user: 'ada' } }],
    ['what is not JSON', { format: 'json' }, 'plain', { line: 'plain' }],
  ])('keeps the fields where lines are parsed: %s', async (_, fields, line, expected) => {
    const [event] = await eventsAt(POD, `${line}\n`, { processors: { p: { plugin: 'parse', ...fields } } });
    expect(event?.data).toEqual({ source: folder(POD), ...POD_FIELDS, ...expected });
  });

  it.each(['regex_mask', 'redact'])('has its fields masked by %s like every other value', async (plugin) => {
    const rules = { POD: 'web-[0-9]' };
    const mask = { plugin, rules, ...(plugin === 'redact' ? { packs: [] } : {}) };
    const path = `var/log/containers/web-7_shop_app-${ID}.log`;
    for (const processors of [{ mask }, { p: { plugin: 'parse', format: 'json' }, mask }]) {
      const events = await eventsAt(path, '{"user":"ada"}\n{"user":"bob"}\n', { processors });
      expect(events).toHaveLength(2);
      expect(JSON.stringify(events)).not.toContain('web-7');
      fs.rmSync(folder('out'), { recursive: true });
    }
  });

  it('gives the events of text in a test the same fields', () => {
    const config = FileCollectConfig.parse({ plugin: 'file', paths: ['*'], container_fields: true });
    const source = `/${POD}`;
    expect(testing.eventsOfText({ config, text: 'a', source, wasThere: true })[0]?.data).toEqual({
      line: 'a',
      source,
      ...POD_FIELDS,
    });
  });
});
