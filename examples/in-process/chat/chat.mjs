// A conversation with a language model, which sees pseudonyms in place of what it must not know.

import { createPseudonyms, createRedactor, redactFetch } from 'millrace/redact';

// To make the rules takes a while: once for the program.
const rules = createRedactor({ packs: ['default', 'pii/contact', 'pii/payment', 'pii/person'] });

const SYSTEM = 'You help customers. Marks such as <:EMAIL_1:> stand for data: repeat them as they are.';

/**
 * One conversation, with pseudonyms of its own.
 *
 * @param {object} model
 * @param {string} model.url of an API that is compatible with that of OpenAI
 * @param {string} model.key
 */
export function createChat({ url, key }) {
  const redactor = rules.withPseudonyms(createPseudonyms());
  // To an SDK: new OpenAI({ fetch: redactFetch(fetch, { redactor }) })
  const fetch = redactFetch(globalThis.fetch, { redactor });
  /** @type {{ role: string, content: string }[]} */
  const messages = [{ role: 'system', content: SYSTEM }];

  return {
    /** @param {string} question */
    async *ask(question) {
      messages.push({ role: 'user', content: question });
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'gpt-5-mini', stream: true, messages }),
      });
      if (!response.ok || response.body === null) throw new Error(`the model answered ${response.status}`);
      let answer = '';
      for await (const text of deltasIn(response.body.pipeThrough(new TextDecoderStream()))) {
        answer += text;
        yield text;
      }
      messages.push({ role: 'assistant', content: answer });
    },
    report: () => redactor.report(),
  };
}

/** @param {ReadableStream<string>} events */
async function* deltasIn(events) {
  let rest = '';
  for await (const piece of events) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      const text = JSON.parse(line.slice('data: '.length)).choices[0]?.delta.content;
      if (text) yield/** @type {string} */ (text);
    }
  }
}
