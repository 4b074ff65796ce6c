import {
  type AliasEvent,
  EVENT_ID,
  type Event,
  getScalarValue,
  type MappingEvent,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml';
import type { Path } from '../checks/path.ts';
import { substitute } from './environment.ts';
import type { SourceText } from './source-text.ts';
import type { EnvironmentAt } from './test-environment.ts';
import { mergeEntries } from './yaml-merge.ts';
import type { MappingNode, ScalarNode, YamlNode } from './yaml-node.ts';
import { eventOffset, flowOffset, scalarOffset } from './yaml-offset.ts';
import { resolvePlain, resolveTagged } from './yaml-scalar.ts';

/** What aliases may add to a file, written out: far above any real use, far below what a bomb does. */
const MOST_ALIASED_VALUES = 10_000;

const NO_ITEM = { size: 0, broken: false };

/** A mistake of the YAML itself, at an offset. */
export interface YamlMistake {
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
}

/** A mistake after which the rest of the file cannot be read. */
export class UnreadableYaml extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Makes nodes of the parser's events, with environment variables put into scalar values. */
export class YamlComposer {
  readonly mistakes: YamlMistake[] = [];
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
    const { text, used, missing } = substitute(written, this.#env(path));
    const offset = scalarOffset(this.#source.text, event);
    const mistakesBefore = this.mistakes.length;
    for (const name of missing) {
      this.#mistake(
        offset ?? 0,
        path,
        `the environment variable ${name} is not set; set it, give a default with \${${name}:-…}, or write $\${${name}} for the text itself`,
      );
    }
    const substituted = text !== written;
    const value = this.#resolve(event, text, substituted, path);
    const broken = this.mistakes.length > mistakesBefore;
    return { kind: 'scalar', offset, size: 1, broken, value, written, used, substituted };
  }

  #resolve(event: ScalarEvent, text: string, substituted: boolean, path: Path): unknown {
    if (event.tagStart !== -1) {
      const result = resolveTagged(text, this.#source.text.slice(event.tagStart, event.tagEnd));
      if ('value' in result) return result.value;
      this.#mistake(event.tagStart, path, result.mistake);
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
        this.#mistake(offset, [...path, key], message);
      }
    }
    this.#next += 1;
    for (const { offset, node } of merged) {
      const message = mergeEntries(entries, node);
      if (message !== undefined) this.#mistake(offset, [...path, '<<'], message);
    }
    const { size, broken } = [...entries.values()].reduce((sum, entry) => add(sum, entry.node), NO_ITEM);
    return { kind: 'mapping', offset: flowOffset(event), size: size + 1, broken, entries };
  }

  #key(mapping: MappingEvent): { key: string; offset: number; isMerge: boolean } {
    const event = this.#events[this.#next];
    const offset = eventOffset(this.#source.text, event) ?? mapping.start;
    if (event?.type !== EVENT_ID.SCALAR) {
      throw new UnreadableYaml(offset, 'a key must be a text; found a list, a mapping or an alias');
    }
    this.#next += 1;
    const key = getScalarValue(this.#source.text, event);
    const isMerge = key === '<<' && event.style === SCALAR_STYLE.PLAIN && event.tagStart === -1;
    return { key, offset, isMerge };
  }

  #checkTag(event: SequenceEvent | MappingEvent, only: string, path: Path): void {
    if (event.tagStart === -1) return;
    const tag = this.#source.text.slice(event.tagStart, event.tagEnd);
    if (tag !== only) this.#mistake(event.tagStart, path, `unknown tag ${tag}; wanted none, or ${only}`);
  }

  #mistake(offset: number, path: Path, message: string): void {
    this.mistakes.push({ offset, path, message });
  }
}

function add(sum: { size: number; broken: boolean }, node: YamlNode): { size: number; broken: boolean } {
  return { size: sum.size + node.size, broken: sum.broken || node.broken };
}
