import { LruMap } from '../../operators/internal.ts';
import type { LineEnvelope } from '../../src/sdk/index.ts';

type Fields = NonNullable<LineEnvelope['fields']>;

/** A runtime renames a log when it rotates it: `0.log` becomes `0.log.20260101-120000`. */
const ROTATED = String.raw`(?:\.[^/]*)?$`;
/** Names of pods are those of DNS, which have dots and hyphens, and never an underscore. */
const NAME = '[^/_]+';

/** Kubernetes links there from `containers` to `pods`. Docker's own driver writes to the third. */
const KUBERNETES = [
  new RegExp(
    `(?:^|/)(?<pod_name>${NAME})_(?<namespace>${NAME})_(?<container_name>${NAME})-(?<container_id>[0-9a-f]{64})\\.log${ROTATED}`,
  ),
  new RegExp(
    `(?:^|/)(?<namespace>${NAME})_(?<pod_name>${NAME})_(?<pod_uid>[0-9a-f-]{32,36})/(?<container_name>${NAME})/\\d+\\.log${ROTATED}`,
  ),
];
const DOCKER = new RegExp(`(?:^|/)(?<container_id>[0-9a-f]{64})/\\k<container_id>-json\\.log${ROTATED}`);

/** Paths whose fields are remembered. */
const MOST_PATHS = 10_000;

/**
 * What the path of a container log says of its pod and container: `{ kubernetes: { pod_name, … } }` or
 * `{ docker: { container_id } }`. Undefined for any other path. The same object again for the same path.
 *
 * @example
 * const fieldsOf = containerFields();
 * fieldsOf('/var/log/pods/shop_web-0_8ba3a5f1-7a0e-4c53-9d2b-0c6d54d32f8b/nginx/0.log').kubernetes.pod_name; // 'web-0'
 */
export function containerFields(): (path: string) => Fields | undefined {
  const known = new LruMap<string, Fields | false>(MOST_PATHS);
  return (path) => {
    let fields = known.get(path);
    if (fields === undefined) {
      fields = readPath(path) ?? false;
      known.set(path, fields);
    }
    return fields === false ? undefined : fields;
  };
}

function readPath(path: string): Fields | undefined {
  for (const pattern of KUBERNETES) {
    const groups = pattern.exec(path)?.groups;
    if (groups !== undefined) return { kubernetes: inOrder(groups) };
  }
  const groups = DOCKER.exec(path)?.groups;
  return groups && { docker: { ...groups } };
}

const ORDER = ['namespace', 'pod_name', 'pod_uid', 'container_name', 'container_id'];

function inOrder(groups: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    ORDER.flatMap((name) => (groups[name] === undefined ? [] : [[name, groups[name]]])),
  );
}
