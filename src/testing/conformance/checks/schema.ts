import { frozenCopy } from '../../../sdk/freeze.ts';
import type { ConfigSchema } from '../../../sdk/plugin.ts';
import { contractProblem } from '../../../sdk/plugin.ts';
import { ALL_KINDS, type Check, demand, reasonOf } from '../check.ts';
import type { Subject } from '../subject.ts';

const UNKNOWN = 'conformance_unknown_key';

/** What get_config_schema promises. */
export const SCHEMA_CHECKS: readonly Check[] = [
  {
    name: 'module: has get_config_schema and the entry function of its kind',
    kinds: ALL_KINDS,
    run({ kind, plugin }) {
      const problem = contractProblem(kind, plugin);
      demand(problem === undefined, `${problem}; export it from the module, or as a part of its default`);
      return undefined;
    },
  },
  {
    name: 'schema: get_config_schema returns a schema',
    kinds: ALL_KINDS,
    run({ plugin }) {
      const schema: unknown = plugin.get_config_schema();
      const hasParse =
        typeof schema === 'object' &&
        schema !== null &&
        typeof Reflect.get(schema, 'safeParse') === 'function';
      demand(hasParse, 'what it returns has no safeParse(); return a zod schema, or an object that has one');
      return undefined;
    },
  },
  {
    name: 'schema: accepts the configuration, frozen as it is',
    kinds: ALL_KINDS,
    run(subject) {
      try {
        subject.plugin.get_config_schema().safeParse(frozenCopy(subject.fields()));
      } catch (error) {
        demand(false, `safeParse threw ${reasonOf(error)}; it must not throw, and not write to its input`);
      }
      subject.context();
      return undefined;
    },
  },
  {
    name: 'schema: refuses keys that it does not know',
    kinds: ALL_KINDS,
    run(subject) {
      const { success } = parse(subject, { ...subject.fields(), [UNKNOWN]: 1 });
      demand(
        !success,
        `it accepts the key \`${UNKNOWN}\`, so a typo in a configuration would pass; use z.strictObject, or extend ${baseName(subject)}`,
      );
      return undefined;
    },
  },
  {
    name: 'schema: requires `plugin`',
    kinds: ALL_KINDS,
    run(subject) {
      const { plugin: _plugin, ...fields } = subject.fields();
      demand(
        !parse(subject, fields).success,
        `it accepts an entry without \`plugin\`; extend ${baseName(subject)}, or add \`plugin: z.string()\``,
      );
      return undefined;
    },
  },
];

function parse({ plugin }: Subject, input: unknown): ReturnType<ConfigSchema['safeParse']> {
  return plugin.get_config_schema().safeParse(input);
}

function baseName({ kind }: Subject): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}ConfigBase`;
}
