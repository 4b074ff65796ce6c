import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listens, Restartable } from './restartable.ts';
import { freePort, serverFolder, startServer } from './start-server.ts';

/** An S3 server that keeps objects as files. */
export interface VersityGw extends Restartable {
  /** The endpoint: buckets are the first part of a path. */
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
  createBucket(bucket: string): void;
  /** The objects of a bucket by their keys, in the order of the keys. */
  objects(bucket: string): ReadonlyMap<string, Buffer>;
}

/** The key of the user. */
export const SECRET_KEY = 'secret-of-the-tests';

/** Starts versitygw: `skipWithout('versitygw')`. */
export async function startVersityGw(): Promise<VersityGw> {
  const folder = serverFolder('versitygw');
  const buckets = join(folder, 'buckets');
  mkdirSync(buckets);
  const port = await freePort();
  const keys = { accessKey: 'AKTEST', secretKey: SECRET_KEY, region: 'us-east-1' };
  const env = { ROOT_ACCESS_KEY: keys.accessKey, ROOT_SECRET_KEY: keys.secretKey };
  const args = ['--port', `127.0.0.1:${port}`, '--region', keys.region, 'posix', buckets];
  const server = await Restartable.start(() =>
    startServer('versitygw', args, () => listens(port), { cwd: folder, env }),
  );
  const createBucket = (bucket: string) => {
    mkdirSync(join(buckets, bucket), { recursive: true });
  };
  const objects = (bucket: string) => {
    const root = join(buckets, bucket);
    const names = existsSync(root) ? readdirSync(root, { recursive: true, withFileTypes: true }) : [];
    const paths = names
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      // Objects that are being uploaded are in a folder of the server's own.
      .filter((path) => !path.includes('/.sgwtmp/'))
      .sort();
    return new Map(paths.map((path) => [path.slice(root.length + 1), readFileSync(path)]));
  };
  return Object.assign(server, { url: `http://127.0.0.1:${port}`, ...keys, createBucket, objects });
}
