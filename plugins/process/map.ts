import * as cel from '@marcbachmann/cel-js';
import * as z from 'zod';
import {
  defineProcessor,
  oncePerContext,
  type PipelineRunContext,
  ProcessConfigBase,
} from '../../src/sdk/index.ts';
import { CelExpression } from '../expressions/cel.ts';
import {
  type FieldPath,
  fieldPath,
  getField,
  onlyFields,
  withField,
  withoutField,
} from '../expressions/fields.ts';
import { toJsonValue } from '../expressions/json-value.ts';
import { expression, fieldName } from '../expressions/schema.ts';

const value = () => expression(cel, { expected: 'a valid expression' });

const schema = ProcessConfigBase.extend({
  set: z
    .record(fieldName(), value())
    .default({})
    .describe('Fields to set, each to the value of a CEL expression.'),
  rename: z
    .record(fieldName(), fieldName())
    .default({})
    .describe('Fields to rename: from the old name to the new one.'),
  remove: z.array(fieldName()).default([]).describe('Fields to remove.'),
  keep: z.array(fieldName()).optional().describe('The only fields to keep. Default: all.'),
});
type Settings = z.output<typeof schema>;
type Fields = Readonly<Record<string, unknown>>;

export default defineProcessor({
  description: 'Sets, renames and removes fields of events; values are CEL expressions.',
  example: `
tidy:
  plugin: map
  set:
    service: '"checkout"'
    is_error: data.line.contains("ERROR")
  rename: { line: message }
  remove: [source]
`,
  exampleEvents: [
    {
      given: { line: 'ERROR no space left', source: 'app.log' },
      gives: [{ service: 'checkout', is_error: true, message: 'ERROR no space left' }],
    },
  ],
  schema,
  shownSettings: {},
  traits: { pure: false },
  /**
   * Emits the event with other fields in its data. Expressions see the event as it came in; then fields are renamed,
   * all at once, removed and kept, in this order. Fails on an event for which an expression cannot be evaluated.
   */
  process: ({ ctx, event }) => {
    const { set, rename, remove, keep } = stepsOf(ctx);
    let { data } = event;
    for (const [path, expression] of set) {
      data = withField(data, path, toJsonValue(expression.of(event), path.join('.')));
    }
    data = renamed(data, rename);
    for (const path of remove) data = withoutAny(data, path);
    return [{ ...event, data: keep === undefined ? data : onlyFields(data, keep) }];
  },
});

interface Steps {
  readonly set: readonly (readonly [FieldPath, CelExpression])[];
  readonly rename: readonly (readonly [from: FieldPath, to: FieldPath])[];
  readonly remove: readonly FieldPath[];
  readonly keep: readonly FieldPath[] | undefined;
}

const stepsOf = oncePerContext((ctx: PipelineRunContext<Settings>): Steps => {
  const { set, rename, remove, keep } = ctx.config;
  return {
    set: Object.entries(set).map(([name, source]) => [fieldPath(name), new CelExpression(source, cel)]),
    rename: Object.entries(rename).map(([from, to]) => [fieldPath(from), fieldPath(to)]),
    remove: remove.map(fieldPath),
    keep: keep?.map(fieldPath),
  };
});

/** All at once, so that two fields can change places. */
function renamed(data: Fields, renames: Steps['rename']): Fields {
  const moved = renames.flatMap(([from, to]) => {
    const value = getField(data, from);
    return value === undefined ? [] : [{ from, to, value }];
  });
  const rest = moved.reduce((fields, { from }) => withoutField(fields, from), data);
  return moved.reduce((fields, { to, value }) => withField(fields, to, value), rest);
}

/** Both `user.password` and `password` in `user`, if an event has both. */
function withoutAny(data: Fields, path: FieldPath): Fields {
  const rest = withoutField(data, path);
  return rest === data ? data : withoutAny(rest, path);
}
