import buffer from 'buffer/index.js';

export const { Buffer } = buffer;
export const constants = { MAX_LENGTH: buffer.kMaxLength, MAX_STRING_LENGTH: 2 ** 29 - 24 };
export default buffer;

export const isAscii = (bytes) => bytes.every((byte) => byte < 128);

export function isUtf8(bytes) {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
