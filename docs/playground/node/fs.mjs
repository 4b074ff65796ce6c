const files = new Map();

/** The only files that there are. */
export function setFiles(texts) {
  files.clear();
  for (const [path, text] of Object.entries(texts)) files.set(path, globalThis.Buffer.from(text, 'utf8'));
}

const nameOf = (path) => String(path).replace(/^(?:\.?\/)+/, '');

export const existsSync = (path) => files.has(nameOf(path));

export async function readFile(path) {
  const content = files.get(nameOf(path));
  if (content !== undefined) return content;
  throw Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' });
}
