import { describe, expect, it } from '@jest/globals';
import { generateText, jsonSchema, type LanguageModel, streamText, tool, wrapLanguageModel } from 'ai';
import fc from 'fast-check';
import { redactMiddleware } from '../../redact/ai.ts';
import { createPseudonyms, createRedactor } from '../../redact/index.ts';
import { propertyRuns } from '../support/property-runs.ts';

const rules = createRedactor({ packs: ['default', 'pii/contact', 'pii/person'] });
const TOKEN = `ghp_${'a1B2c3D4'.repeat(4)}e5F6`;
const text = `last_name: Lovelace, mail ada@example.org, password=Tr0ub4dor&3, ${TOKEN}`;
const SECRETS = ['Lovelace', 'ada@example.org', 'Tr0ub4dor&3', TOKEN];
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

// biome-ignore lint/suspicious/noExplicitAny: a model that is made up
type Loose = any;

/** A model that records its calls and answers with these parts. */
function modelOf(
  parts: readonly object[],
  unmaskable?: 'pass',
): { model: Exclude<LanguageModel, string>; calls: Loose[] } {
  const calls: Loose[] = [];
  const finishReason = { unified: 'stop' };
  const model: Loose = {
    specificationVersion: 'v3',
    provider: 'p',
    modelId: 'm',
    supportedUrls: {},
    doGenerate: async (call: Loose) => {
      calls.push(call);
      return { content: parts, finishReason, usage, warnings: [] };
    },
    doStream: async (call: Loose) => {
      calls.push(call);
      const all = [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }];
      return {
        stream: new Blob([]).stream().pipeThrough(
          new TransformStream({
            flush(to) {
              for (const part of all) to.enqueue(part);
            },
          }),
        ),
      };
    },
  };
  const redactor = rules.withPseudonyms(createPseudonyms());
  return {
    model: wrapLanguageModel({ model, middleware: redactMiddleware({ redactor, unmaskable }) }),
    calls,
  };
}

const tools: Loose = {
  send: tool({
    description: `sends, as for ${text}`,
    inputSchema: jsonSchema({
      type: 'object',
      properties: { to: { type: 'string', description: text } },
    }),
  }),
};

describe('the middleware for `ai`', () => {
  it('masks all that a call has, and restores the answer and the input of tools', async () => {
    const { model, calls } = modelOf([
      { type: 'reasoning', text: 'It is <:EMAIL_1:>' },
      { type: 'text', text: 'Dear <:NAME_1:>' },
      {
        type: 'tool-call',
        toolCallId: 'call_1',
        toolName: 'send',
        input: String.raw`{"to":"\u003c:EMAIL_1:>"}`,
      },
    ]);
    const result = await generateText({
      model,
      tools,
      system: text,
      stopSequences: [TOKEN],
      providerOptions: { p: { user: 'ada@example.org', password: 'Tr0ub4dor&3' } },
      messages: [
        { role: 'user', content: [{ type: 'text', text }] },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text, providerOptions: { p: { signature: 'EqQBCgIYAhIM1gbc'.repeat(90) } } },
            {
              type: 'tool-call',
              toolCallId: 'call_0',
              toolName: 'send',
              input: { to: 'ada@example.org', type: TOKEN },
            },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'call_0',
              toolName: 'send',
              output: { type: 'json', value: { text } },
            },
          ],
        },
      ],
    });
    expect(result.text).toBe('Dear Lovelace');
    expect(result.reasoningText).toBe('It is ada@example.org');
    expect(result.toolCalls[0]?.input).toEqual({ to: 'ada@example.org' });
    const [{ prompt, tools: sentTools, stopSequences, providerOptions }] = calls;
    const sent = JSON.stringify({ prompt, sentTools, stopSequences, providerOptions });
    for (const secret of SECRETS) expect(sent).not.toContain(secret);
    expect(prompt[2].content[0].providerOptions.p.signature).toBe('EqQBCgIYAhIM1gbc'.repeat(90));
    expect(prompt[3].content[0]).toMatchObject({
      toolCallId: 'call_0',
      toolName: 'send',
      output: { type: 'json' },
    });
  });

  it('restores streams, wherever a pseudonym is cut', async () => {
    const answer = 'Dear <:NAME_1:>, is <:EMAIL_1:> a < b? <:EM';
    const input = '{"to":"<:EMAIL_1:>"}';
    const cutting = (text: string) =>
      fc
        .array(fc.nat(text.length), { maxLength: 9 })
        .map((places) =>
          [...places.sort((a, b) => a - b), text.length].map((place, i, all) =>
            text.slice(all[i - 1] ?? 0, place),
          ),
        );
    await fc.assert(
      fc.asyncProperty(cutting(answer), cutting(input), async (pieces, args) => {
        const { model } = modelOf([
          { type: 'text-start', id: '1' },
          ...pieces.map((delta) => ({ type: 'text-delta', id: '1', delta })),
          { type: 'text-end', id: '1' },
          { type: 'tool-input-start', id: 'c', toolName: 'send' },
          ...args.map((delta) => ({ type: 'tool-input-delta', id: 'c', delta })),
          { type: 'tool-input-end', id: 'c' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'send', input },
        ]);
        const result = streamText({ model, tools, prompt: text });
        let deltas = '';
        for await (const part of result.fullStream)
          if (part.type === 'tool-input-delta') deltas += part.delta;
        expect(await result.text).toBe('Dear Lovelace, is ada@example.org a < b? <:EM');
        expect(JSON.parse(deltas)).toEqual({ to: 'ada@example.org' });
        expect((await result.toolCalls)[0]?.input).toEqual({ to: 'ada@example.org' });
      }),
      { numRuns: propertyRuns(15) },
    );
  });

  it('refuses a URL that has a file in it', async () => {
    const { transformParams } = redactMiddleware({ redactor: createRedactor() });
    const file = { type: 'file', data: new URL('data:image/png;base64,iVBORw0K'), mediaType: 'image/png' };
    const params = { prompt: [{ role: 'user', content: [file] }] } as never;
    await expect(transformParams?.({ params } as never)).rejects.toMatchObject({ name: 'MaskError' });
  });

  it('refuses a file, unless it may pass', async () => {
    const data = Uint8Array.of(1, 2, 3);
    const messages = [
      { role: 'user' as const, content: [{ type: 'file' as const, data, mediaType: 'application/pdf' }] },
    ];
    const refused = modelOf([]);
    await expect(generateText({ model: refused.model, messages, maxRetries: 0 })).rejects.toMatchObject({
      name: 'MaskError',
    });
    expect(refused.calls).toEqual([]);
    const passing = modelOf([{ type: 'text', text: 'read' }], 'pass');
    await generateText({ model: passing.model, messages });
    expect(passing.calls[0].prompt[0].content[0]).toMatchObject({
      type: 'file',
      data,
      mediaType: 'application/pdf',
    });
  });
});
