const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const CRC32_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** The CRC-32 of ASCII characters, in base 62 with six digits, as GitHub and npm append it to their tokens. */
export function crc32Base62(characters: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < characters.length; i++) {
    crc = (crc >>> 8) ^ (CRC32_TABLE[(crc ^ characters.charCodeAt(i)) & 0xff] as number);
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let digits = '';
  for (; rest > 0; rest = Math.floor(rest / 62)) digits = (BASE62[rest % 62] as string) + digits;
  return digits.padStart(6, '0');
}

/** Whether the last six characters of a token are the checksum of those between them and its first underscore. */
export function hasCrc32Suffix(token: string): boolean {
  return crc32Base62(token.slice(token.indexOf('_') + 1, -6)) === token.slice(-6);
}

/** Whether the first part of a token is the header of a JSON Web Token or of an encrypted one. */
export function hasJwtHeader(token: string): boolean {
  try {
    const base64 = (token.split('.')[0] as string).replaceAll('-', '+').replaceAll('_', '/');
    const header: unknown = JSON.parse(atob(base64));
    return typeof header === 'object' && header !== null && ('alg' in header || 'enc' in header);
  } catch {
    return false;
  }
}
