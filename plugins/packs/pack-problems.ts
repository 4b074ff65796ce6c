import { isAbsolute, relative } from 'node:path';
import { counted } from '../../operators/internal.ts';
import { type Path, YamlPlaces } from './place-in-yaml.ts';

const MOST_PROBLEMS = 20;

/** A file of a pack, and what of it can be shown. */
export interface ShownFile {
  readonly file: string;
  readonly text: string;
  /** Whether a key of the file can be shown. What is no pack may have secrets. */
  readonly isShown: (key: PropertyKey) => boolean;
}

/** A path as a user would write it. */
export function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}

/** What is wrong with a pack, with places in its files and without their content. */
export class PackProblems {
  readonly #listed: string[] = [];
  #unlisted = 0;
  readonly #places = new Map<string, YamlPlaces>();
  readonly #file: string;

  /** @param file the first file of the pack */
  constructor(file: string) {
    this.#file = file;
  }

  get hasAny(): boolean {
    return this.#listed.length > 0;
  }

  /** The first problems, and how many more there are. */
  get messages(): readonly string[] {
    if (this.#unlisted === 0) return this.#listed;
    return [...this.#listed, `${shownPath(this.#file)}: and ${counted(this.#unlisted, 'more problem')}`];
  }

  /** A problem of the whole pack, or of another file. */
  add(message: string, file = this.#file): void {
    this.#list(() => `${shownPath(file)}${message}`);
  }

  /** A problem with the value at a path. */
  report({ file, text, isShown }: ShownFile, path: Path, message: string): void {
    this.#list(() => {
      const places = this.#places.get(file) ?? new YamlPlaces(text);
      this.#places.set(file, places);
      const { line, column } = places.of(path);
      const keys = path.map((step) => (typeof step === 'number' || isShown(step) ? String(step) : '…'));
      const name = keys.length === 0 ? '' : `${keys.join('.')}: `;
      return `${shownPath(file)}:${line}:${column}: ${name}${message}`;
    });
  }

  #list(message: () => string): void {
    if (this.#listed.length < MOST_PROBLEMS) this.#listed.push(message());
    else this.#unlisted++;
  }
}
