import { type BuildOptions, build } from 'esbuild';
import { ROOT } from '../support/build.ts';

/** Bundles a module for browsers, with nothing in place of Node's modules: an import of one is an error. */
export async function bundle(contents: string, options: BuildOptions = {}) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    write: false,
    metafile: true,
    logLevel: 'silent',
    ...options,
  });
  const inputs = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) => Object.entries(inputs));
  return {
    code: outputFiles?.[0]?.text ?? '',
    /** The files of millrace of which anything is left in the bundle. */
    files: inputs
      .filter(([file, { bytesInOutput }]) => !file.includes('node_modules/') && bytesInOutput > 0)
      .map(([file]) => file),
    packages: [
      ...new Set(inputs.flatMap(([file]) => file.match(/(?<=node_modules\/)(?:@[^/]+\/)?[^/]+/) ?? [])),
    ].sort(),
  };
}
