import { describeValue } from '../sdk/checks/describe.ts';
import { isMapping, type Path, type Problem, valueAt } from '../sdk/checks/problem.ts';
import type { UsedVariable } from '../sdk/checks/shown-values.ts';
import { printableLines, truncate } from '../sdk/printable.ts';
import { type MappingNode, nodeValue, usedVariables, writtenValue, type YamlNode } from './yaml-node.ts';

/** A place in a text, 1-based, and its line with a caret below it. */
export interface Place {
  readonly line: number;
  readonly column: number;
  readonly excerpt: string | undefined;
}

const LONGEST_LINE = 100;

/** A configuration file's text, which knows its lines. */
export class SourceText {
  readonly text: string;
  readonly #lineStarts: number[] = [0];

  constructor(text: string) {
    this.text = text;
    for (const lineBreak of text.matchAll(/\r\n|\r|\n/g)) {
      this.#lineStarts.push(lineBreak.index + lineBreak[0].length);
    }
  }

  /** A line without its terminator; the first one is 1. */
  line(number: number): string {
    return this.text.slice(this.#lineStarts[number - 1], this.#lineStarts[number]).replace(/[\r\n]+$/, '');
  }

  /** The place of an offset. One past the end is the end. */
  place(offset: number): Place {
    const line = this.#lineStarts.findLastIndex((start) => start <= offset);
    const start = this.#lineStarts[line] ?? 0;
    const content = this.line(line + 1);
    const column = Math.min(offset - start, content.length);
    return { line: line + 1, column: column + 1, excerpt: excerpt(line + 1, content, column) };
  }
}

function excerpt(line: number, content: string, column: number): string | undefined {
  if (content.trim() === '') return undefined;
  const from = column > LONGEST_LINE - 20 ? column - 40 : 0;
  const shown = content.slice(from, from + LONGEST_LINE);
  // Tabs stay tabs, so that the caret stands below its character however wide they are shown.
  const indent = printableLines(shown.slice(0, column - from)).replace(/[^\t]/g, ' ');
  const number = String(line).padStart(5);
  return `${number} | ${printableLines(shown)}\n${' '.repeat(number.length)} | ${indent}^`;
}

/** Something that configuration comes from: a file, or an object of an embedding program. */
export interface ConfigSource {
  /** How messages name it. */
  readonly file: string;
  /** Relative module paths start here; undefined if there are no files. */
  readonly baseDir: string | undefined;
  readonly value: Record<string, unknown>;
  /** The environment variables whose values are in it. Those of tests do not count: no pipeline runs with them. */
  readonly variables: readonly UsedVariable[];
  /** What is valid in it and probably not meant. */
  readonly warnings: readonly Problem[];
  /** How many steps of the path exist here. */
  depth(path: Path): number;
  /** The place of the key or value at the path, or of the nearest one around it. */
  place(path: Path, at: 'key' | 'value'): Place | undefined;
  /** The first and the last line of the value at the path; undefined if it is not there, or not text. */
  lines(path: Path): { readonly first: number; readonly last: number } | undefined;
  /** The value at the path in the words of a message. */
  describe(path: Path): string;
  /** Whether a scalar at or below the path has no value, for example for want of an environment variable. */
  isBroken(path: Path): boolean;
  /** The value at the path with references where it has values of environment variables; undefined if it is not there. */
  written(path: Path): unknown;
  /** The environment variables whose values are at or below the path, where a schema may have made `parsed` of them. */
  variablesAt(path: Path, parsed?: unknown): readonly UsedVariable[];
}

/** The source of `parseConfig`: no places, no environment. */
export class ObjectSource implements ConfigSource {
  readonly file: string;
  readonly baseDir = undefined;
  readonly value: Record<string, unknown>;
  readonly variables = [];
  readonly warnings = [];

  constructor(name: string, value: Record<string, unknown>) {
    this.file = name;
    this.value = value;
  }

  depth(path: Path): number {
    const missing = path.findIndex((_, index) => valueAt(this.value, path.slice(0, index + 1)) === undefined);
    return missing === -1 ? path.length : missing;
  }

  place(): undefined {
    return undefined;
  }

  lines(): undefined {
    return undefined;
  }

  describe(path: Path): string {
    return describeValue(valueAt(this.value, path));
  }

  isBroken(): boolean {
    return false;
  }

  written(path: Path): unknown {
    return valueAt(this.value, path);
  }

  variablesAt(): readonly UsedVariable[] {
    return [];
  }
}

/** A YAML file. */
export class YamlSource implements ConfigSource {
  readonly file: string;
  readonly baseDir: string | undefined;
  readonly value: Record<string, unknown>;
  readonly variables: readonly UsedVariable[];
  readonly warnings: readonly Problem[];
  readonly #text: SourceText;
  readonly #root: MappingNode;

  constructor(
    file: string,
    baseDir: string | undefined,
    text: SourceText,
    root: MappingNode,
    warnings: readonly Problem[] = [],
  ) {
    this.warnings = warnings;
    this.file = file;
    this.baseDir = baseDir;
    this.#text = text;
    this.#root = root;
    const value = nodeValue(root);
    this.value = isMapping(value) ? value : {};
    this.variables = [...root.entries].flatMap(([name, { node }]) =>
      name === 'tests' ? [] : usedVariables(node),
    );
  }

  depth(path: Path): number {
    return this.#trace(path).depth;
  }

  place(path: Path, at: 'key' | 'value'): Place {
    const { depth, node, slotOffset } = this.#trace(path);
    const isHere = at === 'value' && depth === path.length;
    const place = this.#text.place((isHere ? node.offset : undefined) ?? slotOffset);
    // What is missing at the top level is missing from the file, not from its first line.
    return depth === 0 ? { ...place, excerpt: undefined } : place;
  }

  lines(path: Path): { first: number; last: number } | undefined {
    const { depth, node } = this.#trace(path);
    if (depth < path.length || node.offset === undefined) return undefined;
    const end = node.kind === 'scalar' ? node.end : node.offset;
    return { first: this.#text.place(node.offset).line, last: this.#text.place(end).line };
  }

  describe(path: Path): string {
    const { depth, node } = this.#trace(path);
    if (depth < path.length || node.kind !== 'scalar') return describeValue(valueAt(this.value, path));
    if (node.text !== node.written) return `the value of ${truncate(node.written)}`;
    return typeof node.value === 'number' ? truncate(node.written) : describeValue(node.value);
  }

  isBroken(path: Path): boolean {
    const { depth, node } = this.#trace(path);
    return depth === path.length && node.broken;
  }

  written(path: Path): unknown {
    const { depth, node } = this.#trace(path);
    return depth === path.length ? writtenValue(node) : undefined;
  }

  variablesAt(path: Path, parsed?: unknown): readonly UsedVariable[] {
    const { depth, node } = this.#trace(path);
    return depth === path.length ? usedVariables(node, parsed) : [];
  }

  /** Follows a path as far as it goes; `slotOffset` is the offset of the last key or list item that exists. */
  #trace(path: Path): { depth: number; node: YamlNode; slotOffset: number } {
    let node: YamlNode = this.#root;
    let slotOffset = 0;
    for (const [depth, step] of path.entries()) {
      const slot: { offset: number | undefined; node: YamlNode } | undefined =
        node.kind === 'mapping'
          ? node.entries.get(String(step))
          : node.kind === 'sequence'
            ? node.items[Number(step)]
            : undefined;
      if (slot === undefined) return { depth, node, slotOffset };
      slotOffset = slot.offset ?? slotOffset;
      node = slot.node;
    }
    return { depth: path.length, node, slotOffset };
  }
}
