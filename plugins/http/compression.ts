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
const NO_ZSTD = `\`zstd\` requires Node.js 22.15 or later, and this is ${process.version}; use \`gzip\``;

export async function compressed(body: Buffer, compression: 'none' | 'gzip' | 'zstd'): Promise<Buffer> {
  if (compression === 'none') return body;
  const compress = COMPRESS[compression];
  if (compress === undefined) throw new PluginError(NO_ZSTD);
  return compress(body);
}

export function zstdProblem({ compression }: { readonly compression: string }): ConfigProblem[] {
  const isMissing = compression === 'zstd' && COMPRESS.zstd === undefined;
  return isMissing ? [{ path: ['compression'], message: NO_ZSTD }] : [];
}
