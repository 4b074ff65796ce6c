import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { fileSystem, perFileSystem, replaceFileSystem } from '../../../operators/support/file-system.ts';

describe('the file system', () => {
  it('is that of Node.js until a test replaces it', () => {
    const other = { ...fs };
    expect(fileSystem).toBe(fs);
    const restore = replaceFileSystem(other);
    expect(fileSystem).toBe(other);
    restore();
    expect(fileSystem).toBe(fs);
  });

  it('has tables of its own, which come back with it', () => {
    const table = perFileSystem(() => new Map<string, number>());
    table().set('a', 1);
    const restore = replaceFileSystem({ ...fs });
    expect(table().get('a')).toBeUndefined();
    restore();
    expect(table().get('a')).toBe(1);
  });
});
