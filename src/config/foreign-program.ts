import { loadAll } from 'js-yaml';
import { isMapping } from '../sdk/checks/problem.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** Another program that collects logs, and how its configuration is recognised. */
interface Program {
  readonly name: string;
  /** Its heading in docs/coming-from.md, if it has one. */
  readonly heading?: string;
  /** What a file in another format has somewhere, or one that was meant to be YAML and cannot be read. */
  readonly text?: RegExp;
  /** Whether a YAML or JSON mapping is a configuration of it. */
  readonly mapping?: (root: Mapping) => boolean;
}

/** The first program that matches counts. A key alone is rarely enough: `input`, `service` and `receivers` mean many things. */
const PROGRAMS: readonly Program[] = [
  {
    name: 'Vector',
    heading: 'vector',
    text: /^[ \t]*\[\[?(?:sources|transforms|sinks)\.\S+\]|^(?:sources|transforms|sinks):[ \t]*\n(?:(?:[ \t#].*)?\n)*?[ \t]+type:/m,
    mapping: (root) => ['sources', 'transforms', 'sinks'].some((key) => hasEntryWith(root[key], 'type')),
  },
  {
    name: 'the OpenTelemetry Collector',
    heading: 'opentelemetry-collector',
    text: /^(?:receivers|exporters):[ \t]*$/m,
    mapping: (root) =>
      isMapping(root.receivers) ||
      isMapping(root.exporters) ||
      (isMapping(root.service) && isMapping(root.service.pipelines)),
  },
  {
    name: 'Fluent Bit',
    heading: 'fluent-bit',
    // Sections alone are not enough: systemd has `[Service]`, PHP `[filter]`. Keys of Fluent Bit have no `=`.
    text: /^[ \t]*\[(?:service|input|filter|output|parser|multiline_parser)\][ \t]*\r?\n(?:[^[\n]*\n)*?[ \t]*(?:name|flush|log_level|http_server|parsers_file|storage\.path)[ \t]+[^\s=]|^pipeline:[ \t]*\n[ \t]+(?:inputs|filters|outputs):/im,
    mapping: ({ pipeline, parsers, multiline_parsers }) =>
      (isMapping(pipeline) && ['inputs', 'filters', 'outputs'].some((key) => isListed(pipeline[key]))) ||
      [parsers, multiline_parsers].some((list) => Array.isArray(list) && list.some(isMapping)),
  },
  {
    name: 'Logstash',
    heading: 'logstash',
    // A section with a plugin or a condition in it.
    text: /^[ \t]*(?:input|filter|output)\s*\{\s*(?:#.*\n\s*)*(?:[\w-]+\s*\{|if\b)/m,
  },
  {
    name: 'Filebeat',
    mapping: (root) => Object.keys(root).some((key) => /^filebeat(?:\.|$)/.test(key)),
  },
  {
    name: 'Promtail',
    mapping: (root) =>
      Array.isArray(root.scrape_configs) && (isListed(root.clients) || isMapping(root.positions)),
  },
  {
    name: 'Grafana Alloy',
    text: /^[ \t]*(?:loki|otelcol|local|discovery|prometheus)(?:\.\w+)+\s+"\w+"\s*\{/m,
  },
  {
    name: 'Redpanda Connect',
    mapping: ({ input, output, pipeline }) =>
      (isMapping(input) && isMapping(output)) || (isMapping(pipeline) && Array.isArray(pipeline.processors)),
  },
  {
    name: 'Fluentd',
    // HTML has `<source>`, fontconfig `<match>`.
    text: /^[ \t]*<(?:source|match|filter)\b[^>\n]*>[^<]*^[ \t]*@type[ \t]/m,
  },
  {
    name: 'Telegraf',
    text: /^[ \t]*\[\[(?:inputs|outputs|processors|aggregators)\.\S+\]\]/m,
  },
  {
    name: 'syslog-ng',
    text: /^@version:\s*\d|^[ \t]*(?:source|destination)\s+[\w"-]+\s*\{/m,
  },
  {
    name: 'rsyslog',
    text: /^[ \t]*(?:module|input|action|ruleset|template)\s*\(\s*\w+\s*=|^\$(?:ModLoad|IncludeConfig|WorkDirectory|Action\w+|Input\w+)\s/m,
  },
];

/** Sections that no other program has. `processors`, `pipelines` further in, `admin` and `tests` are not among them. */
const OURS = ['collectors', 'forwarders', 'pipelines', 'host_config'];
const OUR_LINE = new RegExp(`^["']?(?:${OURS.join('|')})["']?[ \\t]*:`, 'm');

const PAGE = 'https://github.com/millrace/millrace/blob/main/docs/coming-from.md';

/**
 * Says that a file is a configuration of another program; undefined for all other files. A configuration of millrace with
 * errors is none of another program, even if some of its names come from there.
 */
export function foreignProgram(text: string): string | undefined {
  if (OUR_LINE.test(text)) return undefined;
  const root = firstDocument(text);
  const program = PROGRAMS.find(
    isMapping(root)
      ? ({ mapping }) => !isOurs(root) && mapping?.(root)
      : (program) => program.text?.test(text),
  );
  if (program === undefined) return undefined;
  const { name, heading } = program;
  const shows =
    heading === undefined ? 'compares the concepts of both' : 'shows configurations of both side by side';
  return `this is a configuration of ${name}, not of millrace; ${PAGE}${heading === undefined ? '' : `#${heading}`} ${shows}`;
}

/** The value of a YAML or JSON text; undefined if it is neither. */
function firstDocument(text: string): unknown {
  try {
    return loadAll(text).find((document) => document !== null);
  } catch {
    return undefined;
  }
}

/** Whether there is a section of ours, or an entry as we have them under a name that is not ours. */
function isOurs(root: Mapping): boolean {
  return (
    OURS.some((key) => Object.hasOwn(root, key)) ||
    Object.values(root).some((value) => hasEntryWith(value, 'plugin'))
  );
}

function hasEntryWith(section: unknown, key: string): boolean {
  return (
    isMapping(section) &&
    Object.values(section).some((entry) => isMapping(entry) && typeof entry[key] === 'string')
  );
}

/** Whether entries are given, as a list or by name. */
function isListed(value: unknown): boolean {
  return Array.isArray(value) || isMapping(value);
}
