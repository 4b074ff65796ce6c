import {
  type AliasEvent,
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  type MappingEvent,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml';
import type { Path, Problem } from '../sdk/checks/problem.ts';
import { type EnvironmentAt, substitute } from './environment.ts';
import type { SourceText } from './source.ts';
import {
  type MappingNode,
  resolvePlain,
  resolveTagged,
  type ScalarNode,
  type YamlNode,
} from './yaml-node.ts';

/** What aliases may add to a file, written out: far above any real use, far below what a bomb does. */
const MOST_ALIASED_VALUES = 10_000;

const NO_ITEM = { size: 0, broken: false };

/** A problem of the YAML itself, at an offset. */
interface YamlProblem {
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
}

/** A problem after which the rest of the file cannot be read. */
export class UnreadableYaml extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Makes nodes of the parser's events, with environment variables put into scalar values. */
export class YamlComposer {
  readonly problems: YamlProblem[] = [];
  readonly warnings: Problem[] = [];
  readonly #source: SourceText;
  readonly #events: readonly Event[];
  readonly #env: EnvironmentAt;
  readonly #anchors = new Map<string, YamlNode | 'open'>();
  #next: number;
  #aliased = 0;

  /** `start` is the index of the root's event. */
  constructor(source: SourceText, events: readonly Event[], start: number, env: EnvironmentAt) {
    this.#source = source;
    this.#events = events;
    this.#next = start;
    this.#env = env;
  }

  /** @throws UnreadableYaml on aliases that lead nowhere, to themselves or to too much. */
  compose(path: Path = []): YamlNode {
    const event = this.#events[this.#next++];
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        return this.#anchored(event, () => this.#scalar(event, path));
      case EVENT_ID.SEQUENCE:
        return this.#anchored(event, () => this.#sequence(event, path));
      case EVENT_ID.MAPPING:
        return this.#anchored(event, () => this.#mapping(event, path));
      case EVENT_ID.ALIAS:
        return this.#alias(event);
      default:
        throw new UnreadableYaml(this.#source.text.length, 'the document ends too early');
    }
  }

  #anchored(event: ScalarEvent | SequenceEvent | MappingEvent, compose: () => YamlNode): YamlNode {
    if (event.anchorStart === -1) return compose();
    const name = this.#source.text.slice(event.anchorStart, event.anchorEnd);
    this.#anchors.set(name, 'open');
    const node = compose();
    this.#anchors.set(name, node);
    return node;
  }

  #alias(event: AliasEvent): YamlNode {
    const name = this.#source.text.slice(event.anchorStart, event.anchorEnd);
    const offset = event.anchorStart - 1;
    const node = this.#anchors.get(name);
    if (node === undefined) {
      throw new UnreadableYaml(offset, `the alias *${name} has no anchor &${name} above it`);
    }
    if (node === 'open') throw new UnreadableYaml(offset, `the alias *${name} stands inside its own anchor`);
    this.#aliased += node.size;
    if (this.#aliased > MOST_ALIASED_VALUES) {
      throw new UnreadableYaml(
        offset,
        `the aliases of this file write out to more than ${MOST_ALIASED_VALUES} values; use fewer`,
      );
    }
    return node;
  }

  #scalar(event: ScalarEvent, path: Path): ScalarNode {
    const written = getScalarValue(this.#source.text, event);
    const { text, used, missing, lookalikes } = substitute(written, this.#env(path));
    for (const message of lookalikes) this.warnings.push({ path, message, severity: 'warning' });
    const offset = scalarOffset(this.#source.text, event);
    const problemsBefore = this.problems.length;
    for (const name of missing) {
      this.#problem(
        offset ?? 0,
        path,
        `the environment variable ${name} is not set; set it, give a default with \${${name}:-…}, or write $\${${name}} for the text itself`,
      );
    }
    const value = this.#resolve(event, text, text !== written, path);
    const broken = this.problems.length > problemsBefore;
    const end = event.valueEnd;
    return { kind: 'scalar', offset, end, size: 1, broken, value, written, text, used };
  }

  #resolve(event: ScalarEvent, text: string, substituted: boolean, path: Path): unknown {
    if (event.tagStart !== -1) {
      const result = resolveTagged(text, this.#source.text.slice(event.tagStart, event.tagEnd));
      if ('value' in result) return result.value;
      this.#problem(event.tagStart, path, result.problem);
      return text;
    }
    if (event.style !== SCALAR_STYLE.PLAIN) return text;
    return substituted && text === '' ? '' : resolvePlain(text);
  }

  #sequence(event: SequenceEvent, path: Path): YamlNode {
    this.#checkTag(event, '!!seq', path);
    const items = [];
    while (this.#events[this.#next]?.type !== EVENT_ID.POP) {
      const offset = eventOffset(this.#source.text, this.#events[this.#next]);
      items.push({ offset, node: this.compose([...path, items.length]) });
    }
    this.#next += 1;
    const { size, broken } = items.reduce((sum, item) => add(sum, item.node), NO_ITEM);
    return { kind: 'sequence', offset: flowOffset(event), size: size + 1, broken, items };
  }

  #mapping(event: MappingEvent, path: Path): MappingNode {
    this.#checkTag(event, '!!map', path);
    const entries = new Map<string, { offset: number; node: YamlNode }>();
    const merged: { offset: number; node: YamlNode }[] = [];
    while (this.#events[this.#next]?.type !== EVENT_ID.POP) {
      const { key, offset, isMerge } = this.#key(event);
      const node = this.compose([...path, key]);
      const first = entries.get(key);
      if (isMerge) merged.push({ offset, node });
      else if (first === undefined) entries.set(key, { offset, node });
      else {
        const { line, column } = this.#source.place(first.offset);
        const message = `the key \`${key}\` is given twice; the first one is at line ${line}, column ${column}`;
        this.#problem(offset, [...path, key], message);
      }
    }
    this.#next += 1;
    for (const { offset, node } of merged) {
      const message = mergeEntries(entries, node);
      if (message !== undefined) this.#problem(offset, [...path, '<<'], message);
    }
    const { size, broken } = [...entries.values()].reduce((sum, entry) => add(sum, entry.node), NO_ITEM);
    return { kind: 'mapping', offset: flowOffset(event), size: size + 1, broken, entries };
  }

  #key(mapping: MappingEvent): { key: string; offset: number; isMerge: boolean } {
    const event = this.#events[this.#next];
    const offset = eventOffset(this.#source.text, event) ?? mapping.start;
    if (event?.type !== EVENT_ID.SCALAR) {
      throw new UnreadableYaml(offset, 'a key must be a string; found a list, a mapping or an alias');
    }
    this.#next += 1;
    const key = getScalarValue(this.#source.text, event);
    const isMerge = key === '<<' && event.style === SCALAR_STYLE.PLAIN && event.tagStart === -1;
    return { key, offset, isMerge };
  }

  #checkTag(event: SequenceEvent | MappingEvent, only: string, path: Path): void {
    if (event.tagStart === -1) return;
    const tag = this.#source.text.slice(event.tagStart, event.tagEnd);
    if (tag !== only) this.#problem(event.tagStart, path, `unknown tag ${tag}; expected none, or ${only}`);
  }

  #problem(offset: number, path: Path, message: string): void {
    this.problems.push({ offset, path, message });
  }
}

function add(sum: { size: number; broken: boolean }, node: YamlNode): { size: number; broken: boolean } {
  return { size: sum.size + node.size, broken: sum.broken || node.broken };
}

/**
 * Merges what a `<<` key names into a mapping; keys that are there already stay.
 * Returns in words what is wrong with the value, if something is.
 */
function mergeEntries(
  entries: Map<string, { offset: number; node: YamlNode }>,
  merged: YamlNode,
): string | undefined {
  const mappings = merged.kind === 'sequence' ? merged.items.map((item) => item.node) : [merged];
  if (!mappings.every((node): node is MappingNode => node.kind === 'mapping')) {
    return 'expected a mapping, or a list of mappings, to merge';
  }
  for (const mapping of mappings) {
    for (const [key, entry] of mapping.entries) if (!entries.has(key)) entries.set(key, entry);
  }
  return undefined;
}

/** Where a flow collection starts; a block collection's place is its key. */
function flowOffset(event: SequenceEvent | MappingEvent): number | undefined {
  return event.style === COLLECTION_STYLE.FLOW ? event.start : undefined;
}

/** Where a scalar starts, its opening quote included; undefined for an empty one. */
function scalarOffset(text: string, event: ScalarEvent): number | undefined {
  if (event.valueStart === -1) return undefined;
  if (event.style === SCALAR_STYLE.PLAIN) return event.valueStart;
  if (event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED) {
    return event.valueStart - 1;
  }
  return event.valueStart + (/^\s*(?=\S)/.exec(text.slice(event.valueStart))?.[0].length ?? 0);
}

/** Where a value starts. */
export function eventOffset(text: string, event: Event | undefined): number | undefined {
  if (event?.type === EVENT_ID.SCALAR) return scalarOffset(text, event);
  if (event?.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  return event?.type === EVENT_ID.SEQUENCE || event?.type === EVENT_ID.MAPPING ? event.start : undefined;
}
