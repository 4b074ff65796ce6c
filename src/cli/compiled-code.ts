import { readFileSync } from 'node:fs';

/** A file of code, and what V8 made of it when the build ran it. */
export interface CompiledFile {
  /** Of {@link sumOf} its text: what V8 made of another one is of no use. */
  readonly text: number;
  /** Bytes. None of a file that was not run. */
  readonly size: number;
}

/** What stands ahead of the code, as JSON in a line. */
export interface CompiledHeader {
  /** The {@link thisNode} of the build. */
  readonly node: string;
  /** By path, in the order of their code. */
  readonly files: Readonly<Record<string, CompiledFile>>;
}

/** Where the build writes it, beside the chunks. */
export const COMPILED = 'compiled.bin';

/** V8 looks for another version of itself only, but Node patches it and is built in several ways. */
export const thisNode = (): string =>
  `${process.platform} ${process.arch} ${JSON.stringify(process.versions)}`;

/** A number that is another one for bytes that were changed by accident. */
export function sumOf(...parts: readonly Uint8Array[]): number {
  // Not at the top: `--version` needs none of it.
  const { crc32 } = process.getBuiltinModule('node:zlib');
  return parts.reduce((sum, part) => crc32(part, sum), 0);
}

/** The file of {@link readCompiled}. Its sum comes first, for V8 would take a damaged one for whole. */
export function writtenCompiled(header: CompiledHeader, code: readonly Uint8Array[]): Buffer {
  const rest = [Buffer.from(`${JSON.stringify(header)}\n`), ...code];
  return Buffer.concat([Buffer.from(`${sumOf(...rest)}\n`), ...rest]);
}

/** What V8 made of files of code: by path a sum of the text, and the code if this Node can use it. */
export type CompiledCode = ReadonlyMap<string, { readonly text: number; readonly code: Buffer | undefined }>;

/** Undefined if there is none, or it is damaged: all can be had without. */
export function readCompiled(path: string): CompiledCode | undefined {
  try {
    const bytes = readFileSync(path);
    const headerAt = bytes.indexOf('\n') + 1;
    if (sumOf(bytes.subarray(headerAt)) !== Number(bytes.toString('latin1', 0, headerAt))) return undefined;
    let at = bytes.indexOf('\n', headerAt) + 1;
    const { node, files }: CompiledHeader = JSON.parse(bytes.toString('utf8', headerAt, at));
    const isUsable = node === thisNode();
    const found = Object.entries(files).map(([path, { text, size }]) => {
      const code = isUsable && size > 0 ? bytes.subarray(at, at + size) : undefined;
      at += size;
      return [path, { text, code }] as const;
    });
    return new Map(found);
  } catch {
    return undefined;
  }
}
