import { isDeepStrictEqual } from 'node:util';
import { load } from 'js-yaml';
import { isMapping } from '../../../sdk/checks/problem.ts';
import type { Plugin, ProcessPlugin } from '../../../sdk/plugin.ts';
import { toJson } from '../../../sdk/serialise.ts';
import { ALL_KINDS, type Check, CheckFailure, demand, reasonOf } from '../check.ts';
import { observe, processed } from '../observe.ts';
import type { Subject } from '../subject.ts';

const TIMESTAMP = '2026-01-02T03:04:05.678Z';

/** What a plugin shows to its users. */
export const EXAMPLE_CHECKS: readonly Check[] = [
  {
    name: 'example: it is an entry in YAML that the schema accepts',
    kinds: ALL_KINDS,
    applies: (plugin: Plugin) => plugin?.example !== undefined,
    run(subject) {
      const [name, fields] = exampleEntry(subject);
      return subject.contextOf(name, fields) === undefined ? hasVariables(fields) : undefined;
    },
  },
  {
    name: 'exampleEvents: the first entry of `example` makes of them what they say',
    kinds: ['process'],
    applies: (plugin: Plugin) => (plugin as ProcessPlugin | undefined)?.exampleEvents !== undefined,
    async run(subject) {
      const { example, exampleEvents = [], joinLines } = subject.plugin as ProcessPlugin;
      if (joinLines !== undefined) return 'it joins lines: run it with `testPipeline`';
      demand(
        example !== undefined,
        'it has `exampleEvents` and no `example`, whose entry makes something of them',
      );
      const [name, fields] = exampleEntry(subject);
      const ctx = subject.contextOf(name, fields);
      if (ctx === undefined) return hasVariables(fields);
      for (const { given, gives } of exampleEvents) {
        const event = { timestamp: TIMESTAMP, data: given };
        const observed = await observe(subject, () => processed(subject, ctx, event), {
          limit: Number.POSITIVE_INFINITY,
        });
        const failure = observed.crash ?? (observed.end === 'failed' ? observed : undefined);
        demand(failure === undefined, `for ${toJson(given)} it failed: ${reasonOf(failure?.error)}`);
        const data = observed.values.map((value) => (value as { data: unknown }).data);
        demand(
          isDeepStrictEqual(JSON.parse(toJson(data)), JSON.parse(toJson(gives))),
          `for ${toJson(given)} it gave ${toJson(data)}, where \`exampleEvents\` says ${toJson(gives)}`,
        );
      }
      return undefined;
    },
  },
];

/** The first entry of `example`. */
function exampleEntry({ plugin }: Subject): readonly [name: string, fields: Record<string, unknown>] {
  const { example } = plugin;
  let read: unknown;
  try {
    read = typeof example === 'string' ? load(example) : undefined;
  } catch (error) {
    throw new CheckFailure(`its \`example\` is not YAML: ${reasonOf(error)}`);
  }
  const [[name, entry] = []] = isMapping(read) ? Object.entries(read) : [];
  demand(
    name !== undefined && isMapping(entry) && typeof entry.plugin === 'string',
    'its `example` is not an entry; write a string such as `name: { plugin: ./my_plugin.mjs, field: message }`',
  );
  return [name, entry];
}

/** Only a run reads variables. */
function hasVariables(fields: object): string {
  demand(toJson(fields).includes('${'), 'its schema refuses its `example`');
  return 'its `example` reads environment variables';
}
