import { EVENT_ID, type Event, parseEvents, YAMLException } from 'js-yaml';
import { type Environment, withPlainReferences } from './environment.ts';
import { hasSection, mentionsSection } from './is-configuration.ts';
import type { MistakeLog } from './mistake-log.ts';
import { YamlSource } from './source.ts';
import { SourceText } from './source-text.ts';
import { type EnvironmentAt, testEnvironments } from './test-environment.ts';
import { UnreadableYaml, YamlComposer } from './yaml-composer.ts';
import { nodeValue } from './yaml-node.ts';
import { eventOffset } from './yaml-offset.ts';

const NO_CONFIGURATION =
  'this is not a millrace configuration: it has none of the top-level sections collectors, processors, forwarders, ' +
  'pipelines, host_config and tests. The content of the file is not shown here, because it may be secret';
const EMPTY = 'the file is empty; wanted a configuration';

/** The parser's reasons that do not lead to the mistake. */
const PLAINER_REASONS: Readonly<Record<string, string>> = {
  'deficient indentation': 'too little indentation, or a quote or bracket above is not closed',
};

/** How a configuration text is to be read. */
export interface YamlOptions {
  readonly file: string;
  readonly baseDir: string | undefined;
  readonly env: Environment;
  readonly log: MistakeLog;
}

/** Reads a configuration text. Its mistakes go to the log; undefined if nothing of it can be used. */
export function parseYamlSource(text: string, options: YamlOptions): YamlSource | undefined {
  const { file, baseDir, env, log } = options;
  const source = new SourceText(text);
  const refuse = (offset: number, message: string) => {
    if (mentionsSection(text)) log.addAt(file, source.place(offset), [], message);
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
      refuse(documentOffset(text, events[second + 1]), 'a second document; wanted one in each file');
      return undefined;
    }
    const { root, mistakes } = compose(source, events, env);
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
      for (const { offset, path, message } of mistakes) log.addAt(file, source.place(offset), path, message);
      return new YamlSource(file, baseDir, source, root);
    }
    const found = root.kind === 'sequence' ? 'a list' : 'a single value';
    log.addAt(
      file,
      undefined,
      [],
      `the file holds ${found}; wanted a mapping with collectors, forwarders, pipelines …`,
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
    return { root: composer.compose(), mistakes: composer.mistakes };
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
