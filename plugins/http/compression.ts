import type { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { type ConfigProblem, PluginError } from '../../src/sdk/index.ts';

/** Node.js 20 has no zstd. */
const { gzip, zstdCompress } = zlib as {
  readonly gzip: typeof zlib.gzip;
  readonly zstdCompress?: typeof zlib.gzip;
};
const COMPRESS = { gzip: promisify(gzip), zstd: zstdCompress && promisify(zstdCompress) };
/**
 * Half the processor time of zlib's default, 6, for bodies that are a tenth larger. On logs, 1 and 2 hardly save time.
 * The default of zstd is 3 as well.
 */
const GZIP_LEVEL = 3;
const LARGEST_CHUNK = 1024 * 1024;
const NO_ZSTD = `\`zstd\` requires Node.js 22.15 or later, and this is ${process.version}; use \`gzip\``;

export async function compressed(body: Buffer, compression: 'none' | 'gzip' | 'zstd'): Promise<Buffer> {
  if (compression === 'none') return body;
  const compress = COMPRESS[compression];
  if (compress === undefined) throw new PluginError(NO_ZSTD);
  // Each chunk of the result waits for this thread; by default there are hundreds, of 16 KiB.
  const chunkSize = Math.min(Math.max(16 * 1024, body.length >> 2), LARGEST_CHUNK);
  return compress(body, compression === 'gzip' ? { level: GZIP_LEVEL, chunkSize } : { chunkSize });
}

export function zstdProblem({ compression }: { readonly compression: string }): ConfigProblem[] {
  const isMissing = compression === 'zstd' && COMPRESS.zstd === undefined;
  return isMissing ? [{ path: ['compression'], message: NO_ZSTD }] : [];
}
