import { dirname } from 'node:path';
import { fileSystem, fsCall, syncFolder } from '../../operators/internal-files.ts';

/** Writes a file beside `path`, which is to replace the one there as soon as it is renamed. */
export function writeReplacement(path: string, text: string): { file: number; temporary: string } {
  const temporary = `${path}.new`;
  // Left by a crash, or a symbolic link that must not choose the file to write to.
  fileSystem.rmSync(temporary, { force: true });
  const file = fileSystem.openSync(temporary, 'wx', 0o600);
  try {
    fileSystem.writeFileSync(file, text);
  } catch (error) {
    fileSystem.closeSync(file);
    fileSystem.rmSync(temporary, { force: true });
    throw error;
  }
  return { file, temporary };
}

/** Replaces a file so that, even if the machine dies, the old or the new one is there whole. */
export async function replaceFlushed(path: string, text: string): Promise<void> {
  const { file, temporary } = writeReplacement(path, text);
  await fsCall((done) => fileSystem.fsync(file, done)).finally(() => fileSystem.closeSync(file));
  await fsCall((done) => fileSystem.rename(temporary, path, done));
  await syncFolder(dirname(path));
}
