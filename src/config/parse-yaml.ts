import { EVENT_ID, type Event, parseEvents, YAMLException } from 'js-yaml';
import type { ProblemLog } from './config-error.ts';
import {
  type Environment,
  type EnvironmentAt,
  testEnvironments,
  withPlainReferences,
} from './environment.ts';
import { foreignProgram } from './foreign-program.ts';
import { SECTIONS } from './sections.ts';
import { SourceText, YamlSource } from './source.ts';
import { mayHoldSecret } from './validate-secrets.ts';
import { eventOffset, UnreadableYaml, YamlComposer } from './yaml-composer.ts';
import { nodeValue } from './yaml-node.ts';

const NO_CONFIGURATION =
  'this is not a millrace configuration: it has none of the top-level sections collectors, processors, forwarders, ' +
  'pipelines, host_config and tests. The content of the file is not shown here, because it may be secret';
const EMPTY = 'the file is empty; expected a configuration';

/** The parser's reasons that do not lead to the problem. */
const PLAINER_REASONS: Readonly<Record<string, string>> = {
  'unknown escape sequence':
    "unknown escape sequence: in double quotes, `\\` starts an escape. Write the value in single quotes, as in '\\d+'",
  'deficient indentation': 'too little indentation, or a quote or bracket above is not closed',
};

interface YamlOptions {
  readonly file: string;
  readonly baseDir: string | undefined;
  readonly env: Environment;
  readonly log: ProblemLog;
}

/** Reads a configuration text. Its problems go to the log; undefined if nothing of it can be used. */
export function parseYamlSource(text: string, options: YamlOptions): YamlSource | undefined {
  const { file, baseDir, env, log } = options;
  const foreign = foreignProgram(text);
  if (foreign !== undefined) {
    log.addAt(file, undefined, [], foreign);
    return undefined;
  }
  const source = new SourceText(text);
  const placeOf = (offset: number) => {
    const place = source.place(offset);
    return mayHoldSecret(source.line(place.line)) ? { ...place, excerpt: undefined } : place;
  };
  const refuse = (offset: number, message: string) => {
    if (mentionsSection(text)) log.addAt(file, placeOf(offset), [], message);
    else log.addAt(file, undefined, [], NO_CONFIGURATION);
  };
  try {
    const events = parseEvents(withPlainReferences(text), {});
    const second = events.findIndex((event, index) => index > 0 && event.type === EVENT_ID.DOCUMENT);
    if (events.length === 0) {
      log.addAt(file, undefined, [], EMPTY);
      return undefined;
    }
    if (second !== -1) {
      refuse(documentOffset(text, events[second + 1]), 'a second document; expected one in each file');
      return undefined;
    }
    const { root, problems, warnings } = compose(source, events, env);
    if (root.kind === 'scalar' && root.value === null) {
      log.addAt(file, undefined, [], EMPTY);
      return undefined;
    }
    if (root.kind === 'mapping') {
      const keys = [...root.entries.keys()];
      if (keys.length > 0 && !hasSection(keys)) {
        log.addAt(file, undefined, [], NO_CONFIGURATION);
        return undefined;
      }
      for (const { offset, path, message } of problems) log.addAt(file, placeOf(offset), path, message);
      return new YamlSource(file, baseDir, source, root, warnings);
    }
    const found = root.kind === 'sequence' ? 'a list' : 'a single value';
    log.addAt(
      file,
      undefined,
      [],
      `the file holds ${found}; expected a mapping with collectors, forwarders, pipelines …`,
    );
  } catch (error) {
    if (error instanceof UnreadableYaml) refuse(error.offset, error.message);
    else if (error instanceof YAMLException) {
      const reason = PLAINER_REASONS[error.reason] ?? error.reason;
      refuse(error.mark?.position ?? 0, `the file is not valid YAML: ${reason}`);
    } else throw error;
  }
  return undefined;
}

/** Read twice if tests bring environment variables of their own: they may stand below their use. */
function compose(source: SourceText, events: readonly Event[], env: Environment) {
  const composed = (env: EnvironmentAt) => {
    const composer = new YamlComposer(source, events, 1, env);
    return { root: composer.compose(), problems: composer.problems, warnings: composer.warnings };
  };
  const first = composed(() => env);
  const own = testEnvironments(nodeValue(first.root), env);
  return own === undefined ? first : composed(own);
}

/** The `---` line before a document's first event. */
function documentOffset(text: string, first: Event | undefined): number {
  const start = eventOffset(text, first) ?? text.length;
  const marker = text.lastIndexOf('\n---', start);
  return marker === -1 ? start : marker + 1;
}

const NAMES = [...SECTIONS.keys()].join('|');
/** A section at the start of a line. Its value is a mapping: it is on the next lines, or starts with a brace, an anchor or a tag. */
const SECTION_LINE = new RegExp(`^["']?(?:${NAMES})["']?[ \\t]*:[ \\t]*(?:$|[{&*!#])`, 'm');
/** The first key of a file in flow style, such as JSON. */
const FIRST_KEY = new RegExp(`^\\s*\\{\\s*["']?(?:${NAMES})["']?\\s*:`);

/**
 * Whether a section is among the top-level keys. A file that has none may be any other file that was named by accident,
 * such as `/etc/shadow`: neither its lines nor its keys may be shown.
 */
function hasSection(keys: readonly string[]): boolean {
  return keys.some((key) => SECTIONS.has(key));
}

/** Whether a file that is not valid YAML mentions a section of a configuration. */
function mentionsSection(text: string): boolean {
  return SECTION_LINE.test(text) || FIRST_KEY.test(text);
}
