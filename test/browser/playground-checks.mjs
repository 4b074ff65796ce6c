// What people do with the playground, in Chromium. `playground.long.ts` runs it: puppeteer does not load in Jest.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { deflateRawSync } from 'node:zlib';
import { expect } from 'expect';
import puppeteer from 'puppeteer-core';

const ROOT = join(import.meta.dirname ?? dirname(fileURLToPath(import.meta.url)), '../..');
const PLAYGROUND = join(ROOT, 'docs/playground');
/** Ten times what Chromium and the slowest example take on a quiet machine. */
const LONG_MS = 60_000;
const CONFIG = `
collectors: { web: { plugin: file, paths: [web.log] } }
processors: { secrets: { plugin: regex_mask, rules: { KEY: 'k-[0-9]+' } } }
forwarders: { archive: { plugin: disk, path: out } }
pipelines: { main: { collect: web, process: secrets, forward: archive, max_in_flight: 1 } }
host_config: {}
tests:
  keys are masked:
    collect: { web: { marbles: '(ab|)', values: { a: 'one', b: '<b id=evil>k-1</b>' } } }
    forward: { archive: { takes: 1s } }
    expect: { archive: ['one', '<b id=evil><:KEY:></b>'] }
`.trim();
const fragmentOf = (bytes) => `#v1=${bytes.toString('base64url')}`;
describe('the playground', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-playground-'));
  let browser;
  let page;
  before(async () => {
    for (const file of ['index.html', 'playground.css']) {
      copyFileSync(join(PLAYGROUND, file), join(folder, file));
    }
    const args = [join(PLAYGROUND, 'build.mjs'), join(folder, 'playground.js')];
    await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    browser = await puppeteer.launch({
      executablePath: process.env.CHROMIUM,
      timeout: LONG_MS,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    });
  }, 2 * LONG_MS);
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  async function open(fragment = '') {
    await page?.close();
    page = await browser.newPage();
    page.setDefaultTimeout(LONG_MS);
    await page.goto(pathToFileURL(join(folder, 'index.html')).href + fragment);
    await settled();
  }
  const settled = () =>
    page.waitForFunction(
      () =>
        document.querySelector('#status').textContent !== 'running …' &&
        document.querySelectorAll('#tests li, #problems li').length > 0,
      { timeout: LONG_MS },
    );
  const texts = (css) => page.$$eval(css, (found) => found.map(({ textContent }) => textContent ?? ''));
  const text = async (css) => (await texts(css)).join('\n');
  const write = async (config, shown) => {
    await page.$eval(
      '#editor',
      (editor, value) => {
        editor.value = value;
        editor.dispatchEvent(new Event('input'));
      },
      config,
    );
    await page.waitForFunction(
      (wanted) => document.body.textContent.includes(wanted),
      { timeout: LONG_MS },
      shown,
    );
  };
  it(
    'runs every example',
    async () => {
      await open();
      const names = await texts('#examples option');
      expect(names).toContain('quickstart');
      for (const name of names) {
        await page.select('#examples', name);
        await page.waitForFunction(() => /^\d+ passed$/.test(document.querySelector('#status').textContent), {
          timeout: LONG_MS,
        });
        expect(await texts('#problems li')).toEqual([]);
      }
    },
    2 * LONG_MS,
  );
  it(
    'shows problems with their places, and the drawing again when they are gone',
    async () => {
      await open(fragmentOf(deflateRawSync(CONFIG)));
      expect(await text('#status')).toBe('1 passed');
      await write(CONFIG.replace('regex_mask', 'regex_masc'), 'did you mean');
      expect(await texts('#problems button')).toEqual([
        expect.stringMatching(/^2:34 .*unknown process plugin `regex_masc`.*did you mean `regex_mask`\?/s),
      ]);
      await page.click('#problems button');
      const selected = () =>
        page.$eval('#editor', (editor) => {
          const { value, selectionStart } = editor;
          return value.slice(selectionStart, selectionStart + 10);
        });
      expect(await selected()).toBe('regex_masc');
      await write(CONFIG.replace("'one', '<b", "'two', '<b"), '1 failed');
      await write(CONFIG, '1 passed');
      // The image is decoded after its text is there.
      await page.waitForFunction(() => document.querySelector('#drawing').naturalWidth > 300, {
        timeout: LONG_MS,
      });
    },
    2 * LONG_MS,
  );
  it(
    'runs tests of plugins that need Node, and says which tests need it themselves',
    async () => {
      const http = CONFIG.replace('plugin: disk, path: out', "plugin: http, url: 'https://x.example'");
      await open(fragmentOf(deflateRawSync(http)));
      expect(await text('#status')).toBe('1 passed');
      const files = CONFIG.replace('    collect: { web:', '    files: []\n    collect: { web:');
      await open(fragmentOf(deflateRawSync(files)));
      expect(await text('#problems')).toContain('a test with `files` needs Node.js');
    },
    LONG_MS,
  );
  it(
    'steps through virtual time with the keyboard',
    async () => {
      await open(fragmentOf(deflateRawSync(CONFIG)));
      await page.focus('#instant');
      await page.keyboard.press('Home');
      expect(await text('#now')).toMatch(/^at 0, 1 of the/);
      const facts = async () => Object.fromEntries((await texts('#facts dt')).map((name, i) => [name, i]));
      const fact = async (name) => (await texts('#facts dd'))[(await facts())[name]];
      expect([await fact('in flight'), await fact('waiting for room')]).toEqual(['1', '0']);
      await page.keyboard.press('ArrowRight');
      expect(await text('#happened')).toContain("archive: a { line: 'one', source: 'web.log' }");
      await page.focus('#back');
      await page.keyboard.press('Enter');
      expect(await fact('delivered by archive')).toBeUndefined();
    },
    LONG_MS,
  );
  it(
    'shares by the address, and takes no markup from it',
    async () => {
      const hostile = CONFIG.replaceAll('keys are masked', '<img src=x onerror=alert(1)>');
      await open(fragmentOf(deflateRawSync(hostile)));
      expect(await text('#tests')).toContain('<img src=x onerror=alert(1)>');
      expect(await page.$$('#result b, #tests img, #evil')).toEqual([]);
      await page.click('#share');
      await page.waitForFunction(() => document.querySelector('#status').textContent !== '1 passed');
      const shared = new URL(page.url()).hash;
      await open(shared);
      expect(await page.$eval('#editor', (editor) => editor.value)).toBe(hostile);
    },
    LONG_MS,
  );
  it(
    'refuses addresses that are damaged, too long, or unpack to too much',
    async () => {
      const bomb = fragmentOf(deflateRawSync(Buffer.alloc(1024 * 1024, 32)));
      for (const fragment of [
        '#v1=***',
        fragmentOf(deflateRawSync(Buffer.from([255, 254]))),
        bomb,
        `#v1=${'A'.repeat(4e4)}`,
      ]) {
        await open(fragment);
        expect(await page.$eval('#editor', (editor) => editor.value)).toContain('fan_out');
      }
    },
    2 * LONG_MS,
  );
  it(
    'lets nothing leave the page',
    async () => {
      await open();
      const refused = () =>
        page.evaluate(() =>
          fetch('https://example.com/').then(
            () => 'sent',
            () => 'refused',
          ),
        );
      expect(await refused()).toBe('refused');
      expect(await page.$eval('meta[http-equiv]', (meta) => meta.getAttribute('content'))).toContain(
        "default-src 'none'",
      );
    },
    LONG_MS,
  );
  for (const width of [880, 390]) {
    it(`fits into ${width} pixels`, async () => {
      await open();
      await page.setViewport({ width, height: 800 });
      const overflow = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        return scrollWidth - clientWidth;
      });
      expect(overflow).toBe(0);
    });
  }
});
