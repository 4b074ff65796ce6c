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
  afterEach(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return (name = '') => join(folder, name);
}
