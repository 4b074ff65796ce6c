// Programs of a stranger, who has installed millrace and rxjs.

/** Masks, delays and runs a pipeline; prints what came out. The same in both module systems. */
const work = `
const mask = regexMask({ rules: { PIN: '[0-9]{4}' } });
const isOneRxjs = of('a').pipe(mask) instanceof Observable;

registerPlugin('forward', 'here', {
  get_config_schema: () => ForwardConfigBase,
  forward: ({ event }) => void forwarded.push(event.data.count),
});
const forwarded = [];
async function run() {
  const config = await parseConfig({
    collectors: { ticks: { plugin: 'test', count: 3, interval: 0.001 } },
    forwarders: { here: { plugin: 'here' } },
    pipelines: { main: { collect: 'ticks', forward: 'here' } },
    host_config: {},
  });
  const manager = new Manager(config, { once: true });
  manager.start();
  const masked = await lastValueFrom(of('pin 1234').pipe(mask, delayRange({ minimum: 0, maximum: 10 })));
  const [{ state }] = await firstValueFrom(manager.finished$);
  const files = typeof followFiles;
  console.log(JSON.stringify({ masked, isOneRxjs, state, forwarded, files }));
}
run();
`;

export const PRINTED = {
  masked: 'pin <:PIN:>',
  isOneRxjs: true,
  state: 'completed',
  forwarded: [1, 2, 3],
  files: 'function',
};

export const ESM = `
import { ForwardConfigBase, Manager, parseConfig, registerPlugin } from 'millrace';
import { delayRange, regexMask } from 'millrace/operators';
import { followFiles } from 'millrace/operators/node';
import { firstValueFrom, lastValueFrom, Observable, of } from 'rxjs';
${work}`;

export const COMMONJS = `
const { ForwardConfigBase, Manager, parseConfig, registerPlugin } = require('millrace');
const { delayRange, regexMask } = require('millrace/operators');
const { followFiles } = require('millrace/operators/node');
const { firstValueFrom, lastValueFrom, Observable, of } = require('rxjs');
${work}`;

/** Loads each configuration that it is given. */
export const LOAD = `
import { loadConfig } from 'millrace';
for (const file of process.argv.slice(2)) {
  const { warnings } = await loadConfig([file]);
  console.log(file + ': ' + warnings.length + ' warnings');
}`;

/** Wrong in each line that expects an error: types that are lost are \`any\`, and \`any\` is never wrong. */
export const PAGE = `
import { delayRange, entropyMask, regexMask } from 'millrace/operators';
import { type Observable, of } from 'rxjs';

interface Login { readonly timestamp: string; readonly data: { readonly user: string } }
declare const logins$: Observable<Login>;
const rules = { PIN: '[0-9]{4}' };

export const texts$: Observable<string> = of('a').pipe(regexMask({ rules }), entropyMask());
export const masked$: Observable<Login> = logins$.pipe(
  regexMask({ rules }),
  entropyMask({ h_threshold: 0.8 }),
  delayRange({ minimum: 0, maximum: 1 }),
);
// @ts-expect-error: events in, events out
export const wrong$: Observable<string> = masked$;
// @ts-expect-error: neither a text nor an event
of(1).pipe(regexMask({ rules }));
// @ts-expect-error: no such option
entropyMask({ threshold: 1 });
`;

export const TYPED = `${PAGE}
import { type CollectedEvent, type Host, Manager, parseConfig, registerPlugin } from 'millrace';
import { followFiles } from 'millrace/operators/node';

export const lines: readonly string[][] = [];
export const batches$ = followFiles(['a.log'], {
  positions: { startAt: () => 0, forget: () => {} },
});
export const started = async (): Promise<Manager> => new Manager(await parseConfig({}), { once: true });
export const statesOf = (manager: Manager): Readonly<Record<string, { readonly state: string }>> =>
  manager.states();
export const event: CollectedEvent = { timestamp: '', data: {} };
// @ts-expect-error: no such kind of plugin
registerPlugin('collector', 'a', {});
// @ts-expect-error: a host has more than that
export const host: Host = { id: 'a' };
`;

/** A program that imports all that there is. */
export const imports = (entries: readonly string[]) =>
  entries.map((entry, i) => `export * as entry${i} from '${entry}';\n`).join('');

export const PIPELINES = `
collectors:
  ticks: { plugin: test, count: 2, interval: 0.001 }
processors:
  mask: { plugin: regex_mask, rules: { NAME: ticks } }
forwarders:
  out: { plugin: stdout }
pipelines:
  main: { collect: ticks, process: mask, forward: out }
host_config: {}
`;

/** A collector that emits one event: whether what millrace makes is of the classes that it imports. */
const collector = `
const made = poll(() => [], { interval: 1 });
const schema = CollectConfigBase.extend({ word: z.string().default('plugin') });
const get_config_schema = () => schema;
const collect = ({ ctx }) =>
  of({ data: { isOneRxjs: made instanceof Observable, isOneZod: schema instanceof z.ZodType, word: ctx.config.word } });
`;

export const PLUGIN = `
import { CollectConfigBase } from 'millrace';
import { poll } from 'millrace/operators';
import { Observable, of } from 'rxjs';
import { z } from 'zod';
${collector}
export { collect, get_config_schema };
`;

export const COMMONJS_PLUGIN = `
const { CollectConfigBase } = require('millrace');
const { poll } = require('millrace/operators');
const { Observable, of } = require('rxjs');
const { z } = require('zod');
${collector}
module.exports = { collect, get_config_schema };
`;

export const SAID_BY_PLUGIN = { isOneRxjs: true, isOneZod: true, word: 'plugin' };

export const pluginPipelines = (plugin: string) => `
collectors:
  mine: { plugin: ${plugin} }
forwarders:
  out: { plugin: stdout }
pipelines:
  main: { collect: mine, forward: out }
host_config: {}
`;

export const JEST_TEST = `
const { Manager } = require('millrace');
const { delayRange, poll } = require('millrace/operators');
const { followFiles } = require('millrace/operators/node');
const { testPipeline } = require('millrace/testing');
const { Observable, of } = require('rxjs');
const { TestScheduler } = require('rxjs/testing');

it('shares RxJS with millrace', () => {
  expect(poll(() => [], { interval: 1 })).toBeInstanceOf(Observable);
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  scheduler.run(({ expectObservable }) => {
    expectObservable(of('a').pipe(delayRange({ minimum: 5000, maximum: 5000 }))).toBe('5s (a|)');
  });
  for (const part of [Manager, followFiles, testPipeline]) expect(typeof part).toBe('function');
});
`;
