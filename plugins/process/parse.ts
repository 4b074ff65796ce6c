import * as z from 'zod';
import {
  type CollectedEvent,
  defineProcessor,
  oneCharacter,
  type PipelineRunContext,
  PluginError,
  ProcessConfigBase,
} from '../../src/sdk/index.ts';
import { boundedExpression, expressionProblem } from '../expressions/bounded-expression.ts';
import { fieldPath, getField, withField, withoutField } from '../expressions/fields.ts';
import { csvParser, type Parser, parseCombined, parseCri, parseJson, parseLogfmt } from '../parse/formats.ts';
import { recogniseLevel, recogniseTimestamp } from '../parse/recognise.ts';

const field = () =>
  z.string().refine((name) => fieldPath(name).every((part) => part !== '' && part !== '__proto__'), {
    message: 'the name of a field, with dots between the names of nested ones',
  });

const pattern = z.string().check((ctx) => {
  const problem = expressionProblem(ctx.value) ?? (/\(\?P?<\w/.test(ctx.value) ? undefined : NO_GROUP);
  if (problem === undefined) return;
  ctx.issues.push({ code: 'custom', input: ctx.value, message: `a valid regular expression (${problem})` });
});
const NO_GROUP = 'it has no named group, as in (?<status>[0-9]+)';

const schema = ProcessConfigBase.extend({
  format: z.enum(['json', 'logfmt', 'regex', 'csv', 'combined', 'cri']).describe('What the text is.'),
  field: field().default('line').describe('The field with the text. It is removed when it is parsed.'),
  into: field().optional().describe('The field for what was parsed. Default: the fields of `data`.'),
  on_error: z.enum(['keep', 'drop', 'fail']).default('keep').describe('What becomes of other events.'),
  pattern: pattern.optional().describe('For `regex`: an expression with named groups.'),
  columns: z.array(z.string().min(1)).min(1).optional().describe('For `csv`: a name for each column.'),
  delimiter: oneCharacter().optional().describe('For `csv`. Default: a comma.'),
  timestamp: field().optional().describe('The parsed field that becomes the timestamp of the event.'),
  level: field().optional().describe('The parsed field that becomes `level`, in one of six words.'),
}).check((ctx) => {
  const { format, pattern, columns, delimiter } = ctx.value;
  const demand = (isRight: boolean, path: string, message: string) => {
    if (!isRight) ctx.issues.push({ code: 'custom', input: ctx.value, path: [path], message });
  };
  demand(
    (format === 'regex') === (pattern !== undefined),
    'pattern',
    'this field with `regex`, and only there',
  );
  demand((format === 'csv') === (columns !== undefined), 'columns', 'this field with `csv`, and only there');
  demand(format === 'csv' || delimiter === undefined, 'delimiter', 'this field with `csv` only');
});
type Settings = z.output<typeof schema>;

export default defineProcessor({
  description:
    'Parses a text into fields: JSON, logfmt, CSV, access logs, logs of containers, or by an expression.',
  example: `
application:
  plugin: parse
  format: json
  timestamp: time
  level: level
`,
  exampleEvents: [
    {
      given: { line: '{"level":"WARNING","msg":"slow","ms":1200}', source: 'app.log' },
      gives: [{ source: 'app.log', level: 'warn', msg: 'slow', ms: 1200 }],
    },
    { given: { line: 'not JSON' }, gives: [{ line: 'not JSON' }] },
  ],
  schema,
  shownSettings: { format: '', field: '', into: '' },
  /**
   * Emits the event with the fields of the text in its data. An event whose text is missing or not in the format is
   * passed on, dropped or failed on, as `on_error` says.
   */
  process: ({ ctx, event }) => {
    const { into, on_error, format, ...config } = ctx.config;
    const source = fieldPath(config.field);
    const text = getField(event.data, source);
    const parsed = typeof text === 'string' ? parserOf(ctx)(text) : undefined;
    if (parsed === undefined || (into === undefined && !isFields(parsed))) {
      if (on_error === 'fail')
        throw new PluginError(`the field \`${config.field}\` cannot be parsed as ${format}`);
      return on_error === 'keep' ? [event] : [];
    }
    const rest = withoutField(event.data, source);
    const data =
      into === undefined ? { ...rest, ...(parsed as object) } : withField(rest, fieldPath(into), parsed);
    return [recognised({ ...event, data }, isFields(parsed) ? parsed : {}, config)];
  },
});

function recognised(
  event: CollectedEvent,
  parsed: CollectedEvent['data'],
  { timestamp, level }: Pick<Settings, 'timestamp' | 'level'>,
): CollectedEvent {
  const time = timestamp && recogniseTimestamp(getField(parsed, fieldPath(timestamp)));
  const word = level && recogniseLevel(getField(parsed, fieldPath(level)));
  return {
    ...event,
    ...(time && { timestamp: time }),
    ...(word && { data: { ...event.data, level: word } }),
  };
}

const parsers = new WeakMap<object, Parser>();

function parserOf(ctx: PipelineRunContext<Settings>): Parser {
  let parser = parsers.get(ctx);
  if (parser === undefined) {
    parser = makeParser(ctx.config);
    parsers.set(ctx, parser);
  }
  return parser;
}

function makeParser({ format, pattern = '', columns = [], delimiter = ',' }: Settings): Parser {
  if (format === 'csv') return csvParser(columns, delimiter);
  if (format === 'regex') {
    const find = boundedExpression(pattern);
    return (text) => {
      const groups = find(text)?.groups;
      return groups && Object.fromEntries(Object.entries(groups).filter(([, value]) => value !== undefined));
    };
  }
  return { json: parseJson, logfmt: parseLogfmt, combined: parseCombined, cri: parseCri }[format];
}

function isFields(value: unknown): value is CollectedEvent['data'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
