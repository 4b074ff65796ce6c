import { expect, it } from '@jest/globals';
import { byForm } from './support/form.ts';
import { ANY_SETTINGS } from './support/modules.ts';
import { KEY_RULE, Oracle } from './support/oracle.ts';
import { FLAWLESS, MASK, Trial } from './support/trial.ts';

const LINES = byForm({ short: 5000, long: 200_000 });

/** Throws on every fifth event, once the process has handled it, and quotes it in the message. */
const THROWING = `
${ANY_SETTINGS}
let calls = 0;
const hostile = [
  (event) => { throw new Error('cannot handle ' + JSON.stringify(event)); },
  (event) => Promise.reject(new TypeError(event.data.line)),
  (event) => { throw event; },
  (event) => { throw { toString: () => event.data.line, message: event.data.line, stack: event.data.line }; },
  (event) => (function* () { yield event; throw new Error(event.data.line, { cause: event }); })(),
];
export const process = ({ event }) =>
  ++calls % 5 === 0 ? hostile[(calls / 5) % hostile.length](event) : [event];
`;
const MASKING = `${THROWING} export const traits = { masks: true };`;

const config = (process: string) => `
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
processors:
  ${MASK}
  throwing: { plugin: ./throwing.mjs }
forwarders:
  out: { plugin: disk, path: out, filename: out.jsonl }
  dead: { plugin: disk, path: dead, filename: dead.jsonl }
pipelines:
  main: { collect: log, process: [${process}], forward: out, delivery: { dead_letter: dead } }
host_config: {}
`;

async function run(process: string, throwing: string): Promise<{ trial: Trial; dead: unknown[] }> {
  const trial = new Trial(config(process), { 'throwing.mjs': throwing });
  trial.appendLines('in/a.log', LINES);
  expect(await trial.runOnce('--log-level', 'debug')).toMatchObject({ code: 0 });
  const dead = trial
    .text('dead/dead.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).data);
  return { trial, dead };
}

it.each([
  ['a processor that throws ahead of the mask', 'throwing, mask', THROWING, 'mask'],
  ['a mask that throws', 'throwing, mask', MASKING, 'throwing'],
])('%s: events that are not masked are withheld, and the others go on', async (_, process, module, mask) => {
  const { trial, dead } = await run(process, module);
  const { lost, ...verdict } = trial.verdict();
  expect(verdict).toEqual({ doubled: 0, torn: 0, leaks: [], seed: trial.oracle.seed });
  expect(dead).toHaveLength(LINES / 5);
  expect(lost).toBe(LINES / 5);
  expect(dead).toEqual(
    dead.map(() => ({
      error: expect.any(String),
      pipeline: 'main',
      plugin: 'throwing',
      kind: 'process',
      time: expect.any(String),
      withheld: `the event had not passed the mask ${mask}`,
    })),
  );
});

it('a processor that throws behind the mask: events are in the dead letter, masked, or in the output', async () => {
  const { trial, dead } = await run('mask, throwing', THROWING);
  const outputs = [trial.path('out'), trial.path('dead')];
  expect(trial.verdict({ outputs })).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  expect(dead).toHaveLength(LINES / 5);
});

/** What functions of the host return, made so that a secret is seen by JSON, and not by code that looks before. */
const hostileFunctions = (keys: readonly string[]) => `
const keys = ${JSON.stringify(keys)};
let next = 0;
let looks = 0;
const key = () => keys[next++ % keys.length];
const described = (value) => ({ value, enumerable: true, configurable: true });
const circle = () => {
  const value = { key: key() };
  value.self = value;
  return value;
};
const values = [
  () => ({ plain: key() }),
  () => ({ get secret() { throw new Error(key()); } }),
  () => ({ get secret() { return looks++ % 2 === 0 ? 'nothing' : key(); } }),
  () => ({ toJSON: () => ({ secret: key() }) }),
  () => ({ nested: { toJSON: () => key() } }),
  () => ({ __proto__: { toJSON: () => key() } }),
  () => new Proxy({}, { ownKeys: () => ['s'], getOwnPropertyDescriptor: () => described(key()), get: () => key() }),
  () => new Proxy({ s: 1 }, { get: (target, name) => { if (name === 's') throw new Error(key()); } }),
  () => new Proxy([], { get: (target, name) => (name === 'length' ? 1 : name === '0' ? key() : target[name]) }),
  () => Object.create({ secret: key() }, { own: { get: () => key(), enumerable: true } }),
  () => new Map([['secret', key()]]),
  () => new Set([key()]),
  () => Buffer.from(key()),
  () => new String(key()),
  () => Object.assign(() => key(), { secret: key() }),
  () => ({ [Symbol.toPrimitive]: () => key(), secret: Symbol(key()) }),
  () => ({ when: Object.assign(new Date(0), { toISOString: () => key(), toJSON: () => key() }) }),
  () => ({ amount: 10n, secret: key() }),
  () => Object.assign(new Error(key()), { cause: key() }),
  () => Object.assign([key()], { secret: key() }),
  circle,
];
export async function* each() {
  for (const make of values) yield make();
}
export const throws = () => {
  throw new Error(key());
};
export const rejects = () => Promise.reject(key());
`;

const hostileConfig = (mask: string) => `
collectors:
  each: { plugin: host_exec, fn: hostile.each }
  throws: { plugin: host_exec, fn: hostile.throws }
  rejects: { plugin: host_exec, fn: hostile.rejects }
processors:
  mask: ${mask}
forwarders:
  out: { plugin: disk, path: out, filename: out.jsonl }
  screen: { plugin: stdout }
  dead: { plugin: disk, path: dead, filename: dead.jsonl }
pipelines:
  each: { collect: each, process: mask, forward: [out, screen], delivery: { dead_letter: dead }, restart: false }
  throws: { collect: throws, process: mask, forward: out, restart: false }
  rejects: { collect: rejects, process: mask, forward: out, restart: false }
host_config: { functions: { hostile: ./hostile.mjs } }
`;

it.each([
  ['regex_mask', `{ plugin: regex_mask, rules: { KEY: '${KEY_RULE}' } }`],
  ['entropy_mask', '{ plugin: entropy_mask, length_threshold: 16, h_threshold: 0.1 }'],
])('data that hides its secrets from %s is withheld, or masked; never let through', async (_, mask) => {
  const oracle = new Oracle();
  const keys = Array.from({ length: 50 }, () => oracle.key());
  const trial = new Trial(hostileConfig(mask), { 'hostile.mjs': hostileFunctions(keys) });
  const { stderr, stdout } = await trial.runOnce('--log-level', 'debug');
  expect(trial.verdict().leaks).toEqual([]);
  const written = trial.text('out/out.jsonl');
  const withheld = trial.text('dead/dead.jsonl');
  const lines = (text: string) => text.split('\n').length - 1;
  expect(lines(written) + lines(withheld)).toBe(21);
  expect(stdout).toBe(written);
  expect(written).toContain('plain');
  expect(withheld).toContain('the event had not passed the mask mask');
  expect(stderr).toMatch(/throws: failed/);
  expect(stderr).toMatch(/rejects: failed/);
});
