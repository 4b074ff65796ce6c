import * as z from 'zod';
import {
  type CollectedEvent,
  defineProcessor,
  oncePerContext,
  oneCharacter,
  type PipelineRunContext,
  PluginError,
  ProcessConfigBase,
} from '../../src/sdk/index.ts';
import { boundedExpression } from '../expressions/bounded-expression.ts';
import {
  fieldPath,
  getField,
  isFields,
  replaceField,
  withField,
  withoutField,
} from '../expressions/fields.ts';
import { fieldName, regularExpression } from '../expressions/schema.ts';
import {
  csvParser,
  MAX_LENGTH,
  type Parser,
  parseCombined,
  parseCri,
  parseJson,
  parseLogfmt,
} from '../parse/formats.ts';
import { recogniseLevel, recogniseTimestamp } from '../parse/recognise.ts';

const NO_GROUP = 'it has no named group, as in (?<status>[0-9]+)';

const schema = ProcessConfigBase.extend({
  format: z.enum(['json', 'logfmt', 'regex', 'csv', 'combined', 'cri']).describe('The format of the string.'),
  field: fieldName().default('line').describe('The field with the string. It is removed when it is parsed.'),
  into: fieldName().optional().describe('The field for what was parsed. Default: the fields of `data`.'),
  on_error: z.enum(['keep', 'drop', 'fail']).default('keep').describe('What becomes of other events.'),
  pattern: regularExpression((source) => (/\(\?P?<\w/.test(source) ? undefined : NO_GROUP))
    .optional()
    .describe('For `regex`: an expression with named groups.'),
  columns: z.array(z.string().min(1)).min(1).optional().describe('For `csv`: a name for each column.'),
  delimiter: oneCharacter().optional().describe('For `csv`. Default: a comma.'),
  timestamp: fieldName().optional().describe('The parsed field that becomes the timestamp of the event.'),
  level: fieldName().optional().describe('The parsed field that becomes `level`, in one of six words.'),
}).check((ctx) => {
  const { format, pattern, columns, delimiter } = ctx.value;
  const requireField = (isRight: boolean, path: string, message: string) => {
    if (!isRight) ctx.issues.push({ code: 'custom', input: ctx.value, path: [path], message });
  };
  requireField(
    format !== 'regex' || pattern !== undefined,
    'pattern',
    'missing; `format: regex` requires it',
  );
  requireField(format === 'regex' || pattern === undefined, 'pattern', 'only `format: regex` has this field');
  requireField(format !== 'csv' || columns !== undefined, 'columns', 'missing; `format: csv` requires it');
  requireField(format === 'csv' || columns === undefined, 'columns', 'only `format: csv` has this field');
  requireField(format === 'csv' || delimiter === undefined, 'delimiter', 'only `format: csv` has this field');
});
type Settings = z.output<typeof schema>;

export default defineProcessor({
  description:
    'Parses a string into fields: JSON, logfmt, CSV, access logs, logs of containers, or by an expression.',
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
  expectsWholeLines: ({ config }) => (config.format === 'cri' ? 'cri' : undefined),
  makesNumbers: ({ config }) => config.format === 'json',
  /**
   * Emits the event with the fields of the string in its data. An event whose string is missing or not in the format is
   * passed on, dropped or failed on, as `on_error` says.
   */
  process: ({ ctx, event }) => {
    const { source, into, timestamp, level, parser } = parsingOf(ctx);
    const { data } = event;
    const value = getField(data, source);
    const isParsable = typeof value === 'string' && value.length <= MAX_LENGTH;
    const parsed = isParsable ? parser(value) : undefined;
    if (parsed === undefined || (into === undefined && !isFields(parsed))) {
      const { on_error, field, format } = ctx.config;
      if (on_error === 'fail') throw new PluginError(`the field \`${field}\` cannot be parsed as ${format}`);
      return on_error === 'keep' ? [event] : [];
    }
    const fields = isFields(parsed) ? parsed : {};
    const changed: { -readonly [K in keyof CollectedEvent]: CollectedEvent[K] } = {
      ...event,
      data:
        into === undefined
          ? replaceField(data, source, fields)
          : withField(withoutField(data, source), into, parsed),
    };
    const time = timestamp && recogniseTimestamp(getField(fields, timestamp));
    if (time) changed.timestamp = time;
    const word = level && recogniseLevel(getField(fields, level));
    if (word) changed.data = { ...changed.data, level: word };
    return [changed];
  },
});

/** What the configuration asks for, worked out once. */
const parsingOf = oncePerContext(({ config }: PipelineRunContext<Settings>) => {
  const pathOf = (name: string | undefined) => (name === undefined ? undefined : fieldPath(name));
  return {
    source: fieldPath(config.field),
    into: pathOf(config.into),
    timestamp: pathOf(config.timestamp),
    level: pathOf(config.level),
    parser: makeParser(config),
  };
});

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
