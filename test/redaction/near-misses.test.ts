import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { fill, Random } from '../../plugins/pack-tests/templates.ts';
import { loadPack } from '../../plugins/packs/load-packs.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

const redactor = createRedactor(RedactProcessConfig.parse({ plugin: 'redact' }), {
  now: () => 0,
  onMask: () => {},
});
const COUNT = 10;
const LEAST_MISSES = 3;
const rules = Object.entries(loadPack('secrets/providers').rules);

describe('what looks almost like the token of a provider', () => {
  it('is known for every rule', () => {
    const few = rules.filter(([, { tests }]) => new Set(tests.misses).size < LEAST_MISSES);
    expect(few.map(([name]) => name)).toEqual([]);
  });

  it('is left whole by all default rules', () => {
    const r = new Random(41);
    const samples = rules.flatMap(([name, { tests }]) =>
      tests.misses.flatMap((template) =>
        Array.from({ length: COUNT }, () => ({ name, text: fill(template, r).text })),
      ),
    );
    const altered = samples.filter(({ text }) => redactor.maskText(text) !== text);
    expect(altered.map(({ name, text }) => `${name}: ${text}`)).toEqual([]);
  });
});

/** Vendors with the form of their keys, which is also that of ids: only evidence beside it makes a secret of it. */
const KEYS_LIKE_IDS = {
  datadog: '{hex:32}',
  facebook: '{hex:32}',
  algolia: '{hex:32}',
  rollbar: '{hex:32}',
  gitea: '{hex:40}',
  snyk: '{uuid}',
  codecov: '{uuid}',
  postmark: '{uuid}',
  splunk: '{uuid}',
  mattermost: '{base36:26}',
  twitch: '{base36:30}',
  zendesk: '{alnum:40}',
  cohere: '{alnum:40}',
  mistral: '{alnum:32}',
  sumologic: '{alnum:64}',
  messagebird: '{alnum:25}',
  travis: '{alnum:22}',
  ibm: '{alnum:44}',
};

describe.each(Object.entries(KEYS_LIKE_IDS))('an id beside the name %s', (vendor, form) => {
  const masked = (line: string) => {
    const r = new Random(42);
    const id = fill(form, r).text;
    const text = line.replace('VENDOR', vendor).replace('ID', id);
    return { isMasked: redactor.maskText(text) === text.replace(id, `<:${ruleOf(text, id)}:>`), text };
  };
  const ruleOf = (text: string, id: string) =>
    /<:([\w-]+):>/.exec(redactor.maskText(text).slice(text.indexOf(id)))?.[1];

  it.each([
    'VENDOR trace ID',
    'VENDOR issue ID was closed',
    'VENDOR upload ID',
    'VENDOR ticket ID assigned',
    'VENDOR/react@ID',
    'https://app.VENDOR.com/c/ID/edit',
    'VENDOR request id ID failed',
    'VENDOR span=ID',
    'VENDOR: {"trace":"ID"}',
    'VENDOR cache key ID expired',
    'VENDOR token expired in request ID',
    'VENDOR login failed, see ID',
    'commit ID: upgrade VENDOR',
    'merged ID into VENDOR',
    'VENDOR (build ID)',
    'com.VENDOR.Client@ID',
  ])('is left in %s', (line) => {
    const { text } = masked(line);
    expect(redactor.maskText(text)).toBe(text);
  });

  it.each([
    'VENDOR token is ID',
    'using the VENDOR API key ID',
    'VENDOR: started with key ID',
    'VENDOR login --with ID',
    'VENDOR auth ID',
    'config.VENDOR.key = "ID"',
    '{"VENDOR":{"app":"shop","key":"ID"}}',
    'VENDOR="ID"',
    '"VENDOR": "ID"',
    'VENDOR=ID',
    'VENDOR secret: ID',
  ])('is masked in %s', (line) => {
    const { isMasked, text } = masked(line);
    expect([text, isMasked]).toEqual([text, true]);
  });
});
