import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadAll } from 'js-yaml';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { startProcess } from '../support/cli.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { startOpenSearch } from './support/opensearch.ts';
import { programPath, skipWithout } from './support/start-server.ts';

const folder = tempFolder();
const ID = '3f1e'.repeat(16);
const UID = '8ba3a5f1-7a0e-4c53-9d2b-0c6d54d32f8b';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template: { readonly spec: PodSpec } };
}

interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly image: string;
    readonly args: readonly string[];
    readonly securityContext: object;
    readonly volumeMounts: readonly {
      readonly name: string;
      readonly mountPath: string;
      readonly readOnly?: boolean;
    }[];
  }[];
  readonly volumes: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
}

const manifests = loadAll(
  fs.readFileSync(join(ROOT, 'deploy/kubernetes/daemonset.yaml'), 'utf8'),
) as Manifest[];
const manifest = (kind: string) => manifests.find((each) => each.kind === kind) as Manifest;
const pod = manifest('DaemonSet').spec?.template.spec as PodSpec;
const [container] = pod.containers;

/** A node's folder of logs, as a container runtime writes it: links that lead to files of root. */
function writeLogs(lines: readonly string[]): void {
  const log = folder(`var/log/pods/shop_web-0_${UID}/nginx/0.log`);
  fs.mkdirSync(join(log, '..'), { recursive: true });
  fs.mkdirSync(folder('var/log/containers'), { recursive: true });
  fs.writeFileSync(log, lines.map((line) => `2026-01-02T03:04:05.000000006Z stdout ${line}\n`).join(''), {
    mode: 0o640,
  });
  fs.symlinkSync(log, folder(`var/log/containers/web-0_shop_nginx-${ID}.log`));
  // Of millrace itself: its own log is not read.
  fs.symlinkSync(log, folder(`var/log/containers/millrace-x7k2p_millrace_millrace-${ID}.log`));
}

/** The configuration of the ConfigMap, with the folders of a node below that of the test. */
async function runOnce(url: string) {
  const text = manifest('ConfigMap').data?.['pipelines.yaml'] ?? '';
  fs.writeFileSync(folder('pipelines.yaml'), text.replaceAll('/var/log/', `${folder('var/log/')}`));
  const command = [
    process.execPath,
    await upToDateBuild(),
    'run',
    'pipelines.yaml',
    '--state-dir',
    'state',
    '--once',
  ];
  const setpriv = programPath('setpriv');
  // As in the pod: root without capabilities, which reads what it owns.
  const isRoot = process.getuid?.() === 0 && setpriv !== undefined;
  const dropped = isRoot ? [setpriv, '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs', '--'] : [];
  const [program = '', ...args] = [...dropped, ...command];
  const env = { NODE_NAME: 'node1', ELASTICSEARCH_URL: url };
  return startProcess(program, args, { cwd: folder(), env }).ended();
}

describe('deploy/kubernetes/daemonset.yaml', () => {
  it('has a pod with the rights of the docs: root without capabilities, logs read-only', () => {
    expect(container?.securityContext).toEqual({
      ...{ runAsUser: 0, runAsGroup: 0, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
      ...{ capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(pod.automountServiceAccountToken).toBe(false);
    for (const { name, hostPath } of pod.volumes) {
      if (hostPath === undefined) continue;
      const mount = container?.volumeMounts.find((each) => each.name === name);
      expect(mount?.mountPath).toBe(hostPath.path);
      expect(mount?.readOnly ?? false).toBe(hostPath.path.startsWith('/var/log/'));
    }
  });

  it('starts the version of this checkout, and leaves it time to drain', () => {
    const { version } = JSON.parse(fs.readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(container?.image).toMatch(new RegExp(`:${version}$`));
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(10);
    expect(container?.args).toContain('/var/lib/millrace');
  });
});

skipWithout('opensearch')('the recipe docs/recipes/kubernetes.md', () => {
  it('stores masked lines with the fields of their pods, and continues where it was', async () => {
    const server = await startOpenSearch();
    const long = 'password=qGr4Kd0hunter2';
    writeLogs(['F login user=ada password=hunter2', `P ${long.slice(0, 13)}`, `F ${long.slice(13)}`]);
    const first = await runOnce(server.url);
    expect(first).toMatchObject({ code: 0 });
    const documents = (await server.documents('logs-containers-default')).map(({ _source }) => _source);
    expect(documents).toHaveLength(2);
    expect(documents.find(({ line }) => String(line).startsWith('login'))).toMatchObject({
      '@timestamp': '2026-01-02T03:04:05.000Z',
      line: 'login user=ada password=<:password:>',
      stream: 'stdout',
      node: 'node1',
      kubernetes: { namespace: 'shop', pod_name: 'web-0', container_name: 'nginx', container_id: ID },
    });
    expect(JSON.stringify(documents) + first.stdout + first.stderr).not.toContain('hunter2');
    fs.appendFileSync(
      folder(`var/log/pods/shop_web-0_${UID}/nginx/0.log`),
      '2026-01-02T03:04:06.000000006Z stderr F later\n',
    );
    expect(await runOnce(server.url)).toMatchObject({ code: 0 });
    expect(await server.count('logs-containers-default')).toBe(3);
  });
});
