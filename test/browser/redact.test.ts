import { beforeAll, describe, expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { bundle } from './bundle.ts';
import { itInChromium, runInChromium, skipped } from './chromium.ts';

// The build has the packs: from the sources, they are read from files.
beforeAll(upToDateBuild);

const PACKAGES = ['millrace/redact', '@millrace/redact'];

describe.each(PACKAGES)('%s in a browser', (name) => {
  // An import of a module of Node would be an error.
  it('bundles without Node, RxJS and zod', async () => {
    const { packages } = await bundle(`export * from '${name}';`);
    expect(packages).toEqual(['@eslint-community/regexpp', '@noble/hashes']);
  });

  itInChromium(`masks values and streams in headless Chromium${skipped}`, async () => {
    const { code } = await bundle(`
      import { createRedactor, iterateRedacted, redactedTransform } from '${name}';
      async function work() {
        const redactor = createRedactor();
        const body = new Response(new Blob(['ok\\npassword=Tr0u', 'b4dor&3\\ndone\\n'])).body;
        const strings = [];
        for await (const text of iterateRedacted(redactor, ['my password=Tr0u', 'b4dor&3'])) strings.push(text);
        return {
          text: redactor.redact('login with password=Tr0ub4dor&3'),
          value: redactor.redact({ user: 'ada', headers: { 'x-api-key': 'Tr0ub4dor&3' }, upload: new Blob(['it']) }),
          json: redactor.redactJson('{"password":"Tr0ub4dor&3"}'),
          stream: await new Response(body.pipeThrough(redactedTransform(redactor))).text(),
          strings: strings.join(''),
          report: redactor.report(),
        };
      }
      const report = await work().catch((error) => ({ error: String(error.stack) }));
      await fetch('/report', { method: 'POST', body: JSON.stringify(report) });
    `);
    expect(await runInChromium(code)).toEqual({
      text: 'login with password=<:password:>',
      value: { user: 'ada', headers: { 'x-api-key': '<:token:>' }, upload: '<:unmaskable:>' },
      json: '{"password":"<:password:>"}',
      stream: 'ok\npassword=<:password:>\ndone\n',
      strings: 'my password=<:password:>',
      report: {
        masked: {
          'secrets/context:password': 4,
          'secrets/context:token': 1,
        },
        unmaskable: 1,
      },
    });
  });
});
