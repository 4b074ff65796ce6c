import * as z from 'zod';
import {
  defineProcessor,
  type LineEnvelope,
  type LineEvents,
  oncePerContext,
  oneCharacter,
  ParsedEvents,
  type ParsedFields,
  type PipelinePlace,
  type PipelineProblem,
  type PipelineRunContext,
  PluginError,
  ProcessConfigBase,
  type RowMapping,
} from '../../src/sdk/index.ts';
import { boundedGroups, countOfSlowSearches, expressionProblem } from '../expressions/bounded-expression.ts';
import {
  addFields,
  type FieldPath,
  fieldPath,
  getField,
  isFields,
  replaceField,
  setField,
  withField,
  withoutField,
} from '../expressions/fields.ts';
import { fieldName } from '../expressions/schema.ts';
import {
  apacheParser,
  combinedParser,
  InvalidPattern,
  ingressNginxParser,
  nginxParser,
  patternRisk,
  vhostCombinedParser,
} from '../parse/access-logs.ts';
import { parseApacheError, parseNginxError } from '../parse/error-logs.ts';
import {
  csvParser,
  type Fields,
  MAX_LENGTH,
  type Parser,
  parseCri,
  parseJsonAfter,
  parseJsonValue,
} from '../parse/formats.ts';
import { recogniseLevel } from '../parse/level.ts';
import { logfmtParser } from '../parse/logfmt.ts';
import { timeZone } from '../parse/time-zone.ts';
import { type TimeReader, timeFormatProblem, timeReader } from '../parse/timestamp.ts';
import { inBoundedTime, TimeOut } from '../time-limits/bounded-time.ts';

const PARSERS = {
  json: () => parseJsonValue,
  cri: () => parseCri,
  combined: combinedParser,
  vhost_combined: vhostCombinedParser,
  ingress_nginx: ingressNginxParser,
  nginx_error: () => parseNginxError,
  apache_error: () => parseApacheError,
} as const;

/** Formats that `pattern` describes, and what it is. */
const PATTERNS = {
  regex: 'a valid regular expression with named groups, as in (?<status>[0-9]+)',
  nginx: 'a `log_format` of nginx, as in `$remote_addr [$time_local] "$request" $status`',
  apache: 'a `LogFormat` of Apache, as in `%h %t "%r" %>s`',
} as const;

const FORMATS = ['csv', 'logfmt', ...Object.keys(PARSERS), ...Object.keys(PATTERNS)] as [
  'csv',
  'logfmt',
  ...(keyof typeof PARSERS | keyof typeof PATTERNS)[],
];

const timeFormat = () =>
  z.string().check((ctx) => {
    const problem = timeFormatProblem(ctx.value);
    if (problem === undefined) return;
    const message = `a format of a time, as in %d/%b/%Y:%H:%M:%S %z (${problem})`;
    ctx.issues.push({ code: 'custom', input: ctx.value, message, continue: true });
  });

const timestampSettings = z.strictObject({
  field: fieldName().describe('The parsed field with the time.'),
  format: z
    .union([z.array(timeFormat()).min(1), timeFormat().transform((format) => [format])])
    .optional()
    .describe('How it is written, with the directives of `strptime`. Default: the usual formats.'),
  zone: z
    .string()
    .refine((name) => timeZone(name) !== undefined, {
      message: 'a time zone, such as Europe/Berlin, +02:00, or local for that of this machine',
    })
    .optional()
    .describe('The zone of times that name none. Default: UTC.'),
});

const schema = ProcessConfigBase.extend({
  format: z.enum(FORMATS).describe('The format of the string.'),
  field: fieldName().default('line').describe('The field with the string. It is removed when it is parsed.'),
  into: fieldName().optional().describe('The field for what was parsed. Default: the fields of `data`.'),
  on_error: z.enum(['keep', 'drop', 'fail']).default('keep').describe('How other events are handled.'),
  pattern: z
    .string()
    .optional()
    .describe(
      'For `regex`: an expression with named groups. For `nginx` and `apache`: the format as in the configuration of the server.',
    ),
  columns: z.array(z.string().min(1)).min(1).optional().describe('For `csv`: a name for each column.'),
  delimiter: oneCharacter()
    .optional()
    .describe('Between columns or pairs. Default: a comma for `csv`, white space for `logfmt`.'),
  timestamp: z
    .union([
      timestampSettings,
      fieldName().transform((field): z.output<typeof timestampSettings> => ({ field })),
    ])
    .optional()
    .describe('The parsed field that becomes the timestamp of the event, or how it is written.'),
  level: fieldName().optional().describe('The parsed field that becomes `level`, in one of six words.'),
}).check((ctx) => {
  const { format, pattern, columns, delimiter } = ctx.value;
  const refuse = (path: string, message: string) =>
    ctx.issues.push({ code: 'custom', input: ctx.value, path: [path], message });
  const require = (path: string, value: unknown, formats: readonly string[]) => {
    const isOfFormat = formats.includes(format);
    if (isOfFormat && value === undefined) refuse(path, `missing; \`format: ${format}\` requires it`);
    if (!isOfFormat && value !== undefined) {
      refuse(path, `only ${formats.map((name) => `\`format: ${name}\``).join(', ')} has this field`);
    }
  };
  require('pattern', pattern, Object.keys(PATTERNS));
  require('columns', columns, ['csv']);
  const twice = columns?.find((column, index) => columns.indexOf(column) < index);
  if (twice !== undefined)
    refuse('columns', `a name of its own for each column; \`${twice}\` is there twice`);
  const isDelimited = format === 'csv' || format === 'logfmt';
  if (!isDelimited && delimiter !== undefined) {
    refuse('delimiter', 'only `format: csv` and `format: logfmt` have this field');
  }
  if (format === 'logfmt' && delimiter !== undefined && /["'=]/.test(delimiter)) {
    refuse('delimiter', 'a character other than quotes and `=`');
  }
  const problem = pattern === undefined ? undefined : patternProblem(format, pattern);
  if (problem !== undefined) refuse('pattern', problem);
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
  checkConfig: ({ config: { format, pattern = '' } }) => {
    const message = format === 'nginx' || format === 'apache' ? patternRisk(format, pattern) : undefined;
    return message === undefined ? [] : [{ path: ['pattern'], severity: 'warning', message }];
  },
  shownSettings: { format: '', field: '', into: '' },
  checkPipeline: cutLines,
  /**
   * Emits the event with the fields of the string in its data. An event whose string is missing or not in the format is
   * passed on, dropped or failed on, as `on_error` says.
   */
  process: ({ ctx, event }) => {
    const parsing = parsingOf(ctx);
    const { data } = event;
    const value = getField(data, parsing.source);
    const isParsable = typeof value === 'string' && value.length <= MAX_LENGTH;
    const parsed = isParsable ? parsing.parse(data, value, event.timestamp) : undefined;
    if (parsed === undefined) return parsing.leavesOut() ? [] : [event];
    return [{ ...event, ...parsed }];
  },
  /** Lines are parsed without an event for each. */
  mapRows: ({ ctx, rows }) => rows.lines && parsingOf(ctx).mappingOf(rows.lines),
});

/** Long lines of containers come in parts. A mask misses a secret that lies across two of them, unless they are joined first. */
function cutLines({ name, config, before, after }: PipelinePlace<Settings>): PipelineProblem[] {
  if (config.format !== 'cri' || ![...before, ...after].some(({ traits }) => traits.masks)) return [];
  const firstMask = before.findIndex(({ traits }) => traits.masks);
  const inFront = firstMask === -1 ? before : before.slice(0, firstMask);
  if (inFront.some(({ plugin, config }) => plugin === 'multiline' && config.preset === 'cri')) return [];
  const message =
    `\`${name}\` reads lines of the format cri, of which long ones come in parts: a secret that lies across two parts is ` +
    'not masked; put a `multiline` processor with `preset: cri` in front of ' +
    `\`${before[firstMask]?.name ?? name}\``;
  return [{ severity: 'warning', message }];
}

/** What becomes of an event. */
interface Parsed {
  readonly data: Record<string, unknown>;
  /** Undefined if it stays as it is. */
  readonly timestamp?: string;
}

/** Characters. A batch with a longer line is parsed one by one, because the clock is read after many lines. */
const LONGEST_ROW = 16 * 1024;

/** What the configuration asks for, worked out once. */
class Parsing {
  readonly source: FieldPath;
  readonly #config: Settings;
  readonly #parser: Parser;
  readonly #into: FieldPath | undefined;
  readonly #timestamp: { readonly path: FieldPath; readonly read: TimeReader } | undefined;
  readonly #level: FieldPath | undefined;
  readonly #unrecognised: (what: 'format' | 'timestamp' | 'level') => void;
  /** Whether lines are watched together: as soon as an expression could take long on one of them. */
  #isWatched = false;

  constructor(ctx: PipelineRunContext<Settings>) {
    const { field, into, timestamp, level } = ctx.config;
    this.#config = ctx.config;
    this.source = fieldPath(field);
    this.#parser = makeParser(ctx.config);
    this.#into = into === undefined ? undefined : fieldPath(into);
    this.#timestamp = timestamp && {
      path: fieldPath(timestamp.field),
      read: timeReader({ formats: timestamp.format, zone: timestamp.zone }),
    };
    this.#level = level === undefined ? undefined : fieldPath(level);
    this.#unrecognised = unrecognisedCounter(ctx);
  }

  /** Data with what its string says; undefined if that is not in the format. */
  parse(data: Fields, value: string, timestamp: string): Parsed | undefined {
    const parsed = this.#parser(value);
    if (parsed === undefined) return undefined;
    if (this.#into === undefined) {
      if (!isFields(parsed)) return undefined;
      return this.#complete(replaceField(data, this.source, parsed), parsed, timestamp);
    }
    const changed = withField(withoutField(data, this.source), this.#into, parsed);
    return this.#complete(changed, isFields(parsed) ? parsed : {}, timestamp);
  }

  /** Whether an event that is not in the format is left out. */
  leavesOut(): boolean {
    const { on_error, field, format } = this.#config;
    this.#unrecognised('format');
    if (on_error === 'fail') throw new PluginError(`the field \`${field}\` cannot be parsed as ${format}`);
    return on_error === 'drop';
  }

  /** Sets the time and the level, by the fields that were parsed. */
  #complete(data: Record<string, unknown>, fields: Fields, timestamp: string): Parsed {
    let time: string | undefined;
    if (this.#timestamp !== undefined) {
      const value = getField(fields, this.#timestamp.path);
      time = this.#timestamp.read(value, timestamp);
      if (time === undefined && value !== undefined) this.#unrecognised('timestamp');
    }
    if (this.#level !== undefined) {
      const value = getField(fields, this.#level);
      const word = recogniseLevel(value);
      if (word !== undefined) setField(data, 'level', word);
      else if (value !== undefined) this.#unrecognised('level');
    }
    return time === undefined ? { data } : { timestamp: time, data };
  }

  /** Undefined for lines that `process` has to parse. */
  mappingOf({ envelope, texts }: LineEvents): RowMapping | undefined {
    const isWholeLine = this.source.length === 1 && this.source[0] === 'line' && !envelope.isTruncated;
    if (!isWholeLine || texts.lines.some((line) => line.length > LONGEST_ROW)) return undefined;
    const parseLine = this.#lineParser(envelope);
    return (start, end, outcomes) => {
      const lines = texts.lines.slice(start, end);
      const results = this.#resultsOf(lines, parseLine);
      if (results === undefined) outcomes.postponed(start, end);
      const fields: ParsedFields[] = [];
      const timestamps: string[] | undefined = this.#timestamp && [];
      for (let index = 0; results !== undefined && index < results.length; index++) {
        const { parsed, error } = results[index] as LineResult;
        try {
          if (error !== undefined) throw error;
          if (parsed === undefined && this.leavesOut()) {
            outcomes.dropped(start + index);
            continue;
          }
          fields.push(
            parsed?.data ?? { line: lines[index] as string, source: envelope.source, ...envelope.fields },
          );
          timestamps?.push(parsed?.timestamp ?? envelope.timestamp);
        } catch (failure) {
          outcomes.failed(start + index, failure);
        }
      }
      return new ParsedEvents(fields, envelope, timestamps);
    };
  }

  /** Undefined for lines that take too long together, and have to be parsed one by one. */
  #resultsOf(
    lines: readonly string[],
    parseLine: (line: string) => Parsed | undefined,
  ): readonly LineResult[] | undefined {
    const results = () => lines.map((line) => resultOf(line, parseLine));
    if (lines.length === 1 || !this.#isWatched) {
      const before = countOfSlowSearches();
      const unwatched = results();
      this.#isWatched ||= countOfSlowSearches() > before;
      return unwatched;
    }
    const length = lines.reduce((sum, line) => sum + line.length, 0);
    try {
      return inBoundedTime(results, length);
    } catch (error) {
      if (error instanceof TimeOut) return undefined;
      throw error;
    }
  }

  /** {@link parse} for lines: what is parsed is added to the field that they have in common. */
  #lineParser({ source, fields: others, timestamp }: LineEnvelope): (line: string) => Parsed | undefined {
    const oneByOne = (line: string) => this.parse({ line, source, ...others }, line, timestamp);
    // The name of the file is not among the fields that were parsed.
    const readsSource = [this.#timestamp?.path, this.#level].some((path) => path?.[0] === 'source');
    if (this.#into !== undefined || readsSource || others !== undefined) return oneByOne;
    if (this.#config.format === 'json') {
      const opening = `{"source":${JSON.stringify(source)},`;
      return (line) => {
        const data = parseJsonAfter(opening, line);
        return data === undefined ? oneByOne(line) : this.#complete(data, data, timestamp);
      };
    }
    return (line) => {
      const data: Record<string, unknown> = { source };
      const fields = this.#parser(line, data);
      if (!isFields(fields)) return undefined;
      if (fields !== data) addFields(data, fields);
      return this.#complete(data, fields, timestamp);
    };
  }
}

/** What came of a line: neither if it is not in the format. */
interface LineResult {
  readonly parsed?: Parsed | undefined;
  readonly error?: unknown;
}

function resultOf(line: string, parseLine: (line: string) => Parsed | undefined): LineResult {
  try {
    return { parsed: parseLine(line) };
  } catch (error) {
    return { error };
  }
}

const parsingOf = oncePerContext((ctx: PipelineRunContext<Settings>) => new Parsing(ctx));

/** Counts what is not recognised, and warns of the first time and of the first level. */
function unrecognisedCounter({ config, logger, metrics }: PipelineRunContext<Settings>) {
  const counter = metrics.counter({
    name: 'parse_unrecognised_total',
    help: 'Events whose string was not in the format, or whose time or level was not recognised.',
    labels: ['what'],
  });
  const warned = new Set<string>();
  return (what: 'format' | 'timestamp' | 'level') => {
    counter.inc(1, { what });
    // Of mixed logs, `on_error` says what becomes of the other lines.
    if (what === 'format' || warned.has(what)) return;
    warned.add(what);
    logger.warn(
      what === 'timestamp'
        ? `the field \`${config.timestamp?.field}\` has a time that is not recognised, so the event keeps the time at which it ` +
            'was read; set `timestamp.format`. Others are counted, and not logged'
        : `the field \`${config.level}\` has a level that is not recognised, and keeps it; map it with a \`map\` processor. ` +
            'Others are counted, and not logged',
    );
  };
}

function makeParser({ format, pattern = '', columns = [], delimiter }: Settings): Parser {
  if (format === 'csv') return csvParser(columns, delimiter ?? ',');
  if (format === 'logfmt') return logfmtParser(delimiter);
  if (format === 'nginx') return nginxParser(pattern);
  if (format === 'apache') return apacheParser(pattern);
  if (format !== 'regex') return PARSERS[format]();
  return boundedGroups(pattern);
}

function patternProblem(format: string, pattern: string): string | undefined {
  if (format === 'regex') {
    const problem =
      expressionProblem(pattern) ?? (/\(\?P?<\w/.test(pattern) ? undefined : 'it has no named group');
    return problem && `${PATTERNS.regex} (${problem})`;
  }
  if (format !== 'nginx' && format !== 'apache') return undefined;
  try {
    const make = format === 'nginx' ? nginxParser : apacheParser;
    make(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidPattern) return `${PATTERNS[format]} (${error.message})`;
    throw error;
  }
}
