/** Longer texts do not fit into addresses that chats and browsers accept. */
export const LONGEST_FRAGMENT = 32_000;
/** A fragment may come from anybody, and a short one may unpack to gigabytes. */
const LONGEST_TEXT = 256 * 1024;

const PREFIX = '#v1=';

/** The fragment of an address that holds a text; undefined if the text is too long for one. */
export async function fragmentOf(text: string): Promise<string | undefined> {
  const packed = await readAll(new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw')));
  const base64 = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(''));
  const fragment = PREFIX + base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return fragment.length > LONGEST_FRAGMENT ? undefined : fragment;
}

/**
 * The text that a fragment holds; undefined if it holds none.
 *
 * @throws Error if it is damaged or too long.
 */
export async function textOf(fragment: string): Promise<string | undefined> {
  if (!fragment.startsWith(PREFIX)) return undefined;
  if (fragment.length > LONGEST_FRAGMENT) throw new Error('the address is too long');
  const base64 = fragment.slice(PREFIX.length).replaceAll('-', '+').replaceAll('_', '/');
  const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const bytes = await readAll(
    new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw')),
  );
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value);
    length += next.value.length;
    if (length > LONGEST_TEXT) {
      await reader.cancel();
      throw new Error('the text is too long');
    }
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
