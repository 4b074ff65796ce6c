import { isPlain, MaskError } from '../operators/internal-redact.ts';
import type { Redactor } from './create-redactor.ts';

/** What is done with what cannot be masked: binary data, and bodies that are no JSON. */
export type Unmaskable = 'refuse' | 'pass';

const CONTENT = '(?:messages|input|system)(?:\\.(?:content|output|tool_calls|summary))*';
/** Names and ids of the protocols of models. In what a program or a model has written, fields may have any name. */
const NAMES = new RegExp(
  [
    '^(?:model|previous_response_id|conversation(?:\\.id)?',
    `${CONTENT}\\.(?:role|type|id|call_id|tool_call_id|tool_use_id|status|function\\.name|custom\\.name)`,
    '(?:messages\\.content|input)\\.name',
    'tools\\.(?:type|name|function\\.name|custom\\.name)',
    'tool_choice(?:\\.(?:type|name|function\\.name))?)$',
  ].join('|'),
);
const NAME = /^[\w.:/-]{1,256}$/;

/** What a model has encrypted or signed, and takes back only as it is. */
const SEALED = new RegExp(`^${CONTENT}\\.(?:signature|encrypted_content|data)$`);
const BASE64 = /^[\w+/-]+={0,2}$/;

/** The arguments of a call, which are a string of JSON. */
const ARGUMENTS = new RegExp(
  `^${CONTENT}(?:\\.function)?\\.arguments$|^messages\\.function_call\\.arguments$`,
);

const DATA_URL = /^data:[^,]{0,200};base64,/i;
/** Where images, audio and files are, however small they are. */
const FILE = /\.(?:source\.data|input_audio\.data|file_data)$/;
/** So much base64 is a file, also within a text, and in lines as in e-mails. */
const LONG_BASE64 = /(?<![\w+/-])(?:[\w+/-]{1024}|(?:[\w+/-]{60,76}(?:\r?\n)){16})/;

/**
 * Masks the body of a request to a model by its values. Names and ids of the protocol stay.
 *
 * @throws MaskError for images, audio and files in it, unless they may pass
 */
export function maskModelRequest(body: unknown, redactor: Redactor, unmaskable: Unmaskable): unknown {
  return withStructure(body, redactor.redact(body), '', (text, path) => {
    if (NAMES.test(path) && NAME.test(text)) return text;
    if (SEALED.test(path) && BASE64.test(text)) return text;
    if (ARGUMENTS.test(path)) return redactor.redactJson(text);
    if (!isBinary(text) && !(FILE.test(path) && BASE64.test(text))) return undefined;
    if (unmaskable === 'pass') return text;
    throw new MaskError(
      'redactFetch has sent nothing, because the request has an image, audio, a file or other binary data in it, which cannot be ' +
        "masked; set unmaskable: 'pass' to send such data as it is",
    );
  });
}

const isBinary = (text: string) => DATA_URL.test(text) || LONG_BASE64.test(text);

/**
 * Puts strings into a masked value in place of those that were masked.
 *
 * @param instead what stands in place of a string of the original; undefined if it is the masked one. Items of an array have the path
 * of the array.
 */
export function withStructure(
  original: unknown,
  masked: unknown,
  path: string,
  instead: (text: string, path: string) => string | undefined,
): unknown {
  if (typeof original === 'string') return instead(original, path) ?? masked;
  if (Array.isArray(original) && Array.isArray(masked)) {
    return original.map((item, i) => withStructure(item, masked[i], path, instead));
  }
  if (!isPlain(original) || !isPlain(masked)) return masked;
  const entries = Object.entries(masked).map(([key, item]) => {
    if (!Object.hasOwn(original, key)) return [key, item];
    return [key, withStructure(original[key], item, path === '' ? key : `${path}.${key}`, instead)];
  });
  return Object.fromEntries(entries);
}
