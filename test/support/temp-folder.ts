import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';

/** A new folder for each test, removed after it. Returns the path of a name in it. */
export function tempFolder(): (name?: string) => string {
  let folder = '';
  beforeEach(() => {
    folder = fs.mkdtempSync(join(tmpdir(), 'millrace-'));
  });
  // What a test has started may still write a file, which the next try finds.
  afterEach(() => fs.promises.rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return (name = '') => join(folder, name);
}
