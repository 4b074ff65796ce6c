// The middleware for the package `ai`, of which it needs types only.

import type { LanguageModelMiddleware } from 'ai';
import { isPlain, MaskError } from '../operators/internal-redact.ts';
import type { Redactor } from './create-redactor.ts';
import { checkRedactFetchOptions, type RedactFetchOptions } from './fetch.ts';
import { type Unmaskable, withStructure } from './mask-model-request.ts';
import type { Pseudonyms, RestoredStream } from './pseudonyms.ts';
import { restoreValue } from './restore-value.ts';

type Hook<Name extends 'transformParams' | 'wrapGenerate' | 'wrapStream'> = NonNullable<
  LanguageModelMiddleware[Name]
>;
type Params = Awaited<ReturnType<Hook<'transformParams'>>>;
type Content = Awaited<ReturnType<Hook<'wrapGenerate'>>>['content'][number];
type Delta = Extract<Part, { delta: string }>;
type Part =
  Awaited<ReturnType<Hook<'wrapStream'>>>['stream'] extends ReadableStream<infer StreamPart>
    ? StreamPart
    : never;

export type RedactMiddlewareOptions = RedactFetchOptions;

/** Names and ids of the SDK. */
const NAMES =
  /^(?:role|type|name|id|content\.(?:type|toolCallId|toolName|approvalId|mediaType)|content\.output(?:\.value)?\.(?:type|mediaType))$/;
const NAME = /^[\w.:/+-]{1,256}$/;
/** What a model has encrypted or signed, and takes back only as it is. */
const SEALED =
  /(?:^|\.)providerOptions\.[\w-]+\.(?:signature|redactedData|thoughtSignature|reasoningEncryptedContent|itemId)$/;
const BASE64 = /^[\w+/-]+={0,2}$/;
const FILES: ReadonlySet<unknown> = new Set(['file', 'file-data', 'image-data']);

/**
 * A middleware for `wrapLanguageModel` of the package `ai`, version 6. It masks the prompt, the descriptions of tools and what else
 * a call has, and turns back pseudonyms in the answer, in the input of tools and in streams.
 *
 * @throws TypeError for an option that is unknown or of the wrong type. A call with a file in it is rejected with a MaskError, unless
 * `unmaskable` is `pass`.
 *
 * @example
 * const redactor = createRedactor({ packs: ['default', 'pii/contact'], pseudonyms: createPseudonyms() });
 * const { transformParams } = redactMiddleware({ redactor });
 * const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Write to ada@example.org' }] }];
 * const params = await transformParams({ params: { prompt } });
 * params.prompt[0].content[0].text; // 'Write to <:EMAIL_1:>'
 */
export function redactMiddleware(options: RedactMiddlewareOptions): LanguageModelMiddleware {
  checkRedactFetchOptions('redactMiddleware', options);
  const { redactor, unmaskable = 'refuse' } = options;
  const { pseudonyms } = redactor;
  return {
    specificationVersion: 'v3',
    transformParams: async ({ params }) => maskedParams(params, redactor, unmaskable),
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      if (pseudonyms === undefined) return result;
      return { ...result, content: result.content.map((part) => restoredPart(part, pseudonyms)) };
    },
    wrapStream: async ({ doStream }) => {
      const result = await doStream();
      if (pseudonyms === undefined) return result;
      return { ...result, stream: result.stream.pipeThrough(restoringParts(pseudonyms)) };
    },
  };
}

function maskedParams(params: Params, redactor: Redactor, unmaskable: Unmaskable): Params {
  const masked = <T>(value: T): T =>
    withStructure(value, redactor.redact(value), '', (text, path) => {
      if (NAMES.test(path) && NAME.test(text)) return text;
      return SEALED.test(path) && BASE64.test(text) ? text : undefined;
    }) as T;
  const { tools, stopSequences, responseFormat, providerOptions } = params;
  return {
    ...params,
    prompt: withFiles(params.prompt, masked(params.prompt), redactor, unmaskable) as Params['prompt'],
    ...(tools && { tools: masked(tools) }),
    ...(stopSequences && { stopSequences: masked(stopSequences) }),
    ...(responseFormat && { responseFormat: masked(responseFormat) }),
    ...(providerOptions && { providerOptions: masked({ providerOptions }).providerOptions }),
  };
}

/** Puts the data of files back into a masked prompt, if it may pass. A URL of a file may, unless it has something to mask. */
function withFiles(original: unknown, masked: unknown, redactor: Redactor, unmaskable: Unmaskable): unknown {
  if (Array.isArray(original) && Array.isArray(masked)) {
    return original.map((item, i) => withFiles(item, masked[i], redactor, unmaskable));
  }
  if (!isPlain(original) || !isPlain(masked)) return masked;
  if (FILES.has(original.type) && 'data' in original) {
    const { data } = original;
    // A URL of another kind, such as `data:`, has the file in it.
    const isUrl = /^https?:/i.test(String(data));
    const isClean = isUrl && redactor.redact(String(data)) === String(data);
    if (isClean || unmaskable === 'pass') return { ...masked, data };
    throw new MaskError(
      "redactMiddleware has sent nothing, because the prompt has a file in it, which cannot be masked; set unmaskable: 'pass' " +
        'to send files as they are',
    );
  }
  const entries = Object.entries(masked).map(([key, item]) => [
    key,
    Object.hasOwn(original, key) ? withFiles(original[key], item, redactor, unmaskable) : item,
  ]);
  return Object.fromEntries(entries);
}

function restoredPart<P extends Content | Part>(part: P, pseudonyms: Pseudonyms): P {
  const restored = restoreValue(part, pseudonyms) as P;
  if (part.type !== 'tool-call') return restored;
  return { ...restored, input: pseudonyms.restoreJson(part.input) };
}

/** The deltas of one text are one text. What waits when it ends becomes a delta of its own. */
function restoringParts(pseudonyms: Pseudonyms): TransformStream<Part, Part> {
  const open = new Map<string, { readonly part: Delta; readonly stream: RestoredStream }>();
  const texts = new Set<string>();
  return new TransformStream<Part, Part>({
    transform(part, controller) {
      switch (part.type) {
        case 'text-delta':
        case 'reasoning-delta':
        case 'tool-input-delta': {
          const key = `${part.type.replace('-delta', '')} ${part.id}`;
          const json = part.type === 'tool-input-delta' && !texts.has(part.id);
          const { stream } = open.get(key) ?? { stream: pseudonyms.stream({ json }) };
          open.set(key, { part, stream });
          controller.enqueue({ ...part, delta: stream.write(part.delta) });
          return;
        }
        case 'text-end':
        case 'reasoning-end':
        case 'tool-input-end':
          endBlock(`${part.type.replace('-end', '')} ${part.id}`, controller);
          break;
        case 'tool-input-start':
          if (part.inputEncoding === 'text') texts.add(part.id);
          break;
        case 'finish':
          for (const key of open.keys()) endBlock(key, controller);
          break;
      }
      controller.enqueue(part.type === 'raw' ? part : restoredPart(part, pseudonyms));
    },
    flush(controller) {
      for (const key of open.keys()) endBlock(key, controller);
    },
  });

  function endBlock(key: string, controller: TransformStreamDefaultController<Part>): void {
    const block = open.get(key);
    open.delete(key);
    const delta = block?.stream.end() ?? '';
    if (block !== undefined && delta !== '') controller.enqueue({ ...block.part, delta });
  }
}
