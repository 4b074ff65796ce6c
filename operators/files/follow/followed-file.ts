import { FileEnd } from './file-end.ts';
import { FileReading } from './file-reading.ts';
import type { FileChange, FileId } from './file-status.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FoundFile, StartPosition } from './start-position.ts';

/** `gone`: none of its paths leads to it. `elsewhere`, `lost`: it was looked for since, and was found renamed, or was not. */
type Whereabouts = 'there' | 'gone' | 'elsewhere' | 'lost';

type FileSettings = Pick<FollowSettings, 'maxLineBytes' | 'memory' | 'encoding' | 'once'>;

/**
 * One file, by identity: where it is, and how it was when it was last seen. How far it is read is known to `reading`, which
 * the reader writes, and `end`, which the pump writes.
 */
export class FollowedFile {
  readonly id: FileId;
  /** When it was created; nanoseconds, to be compared only. */
  readonly born: bigint;
  readonly reading: FileReading;
  readonly end: FileEnd;
  /** It could be opened when it was found, and is text as far as its first bytes tell. */
  readonly isReadable: boolean;
  #path: string;
  #size: number;
  #modified: bigint;
  #nextSince: bigint;
  #isLinked: boolean;
  #whereabouts: Whereabouts = 'there';
  #isRenamed = false;
  #isForgotten = false;
  /** `modified` when it was found to be no text. */
  #refusedAt: bigint | undefined;

  constructor(
    found: FoundFile,
    { born, modified, changed, isLinked }: FileChange,
    start: StartPosition,
    settings: FileSettings,
    onInvalidByte: (path: string, offset: number) => void,
  ) {
    this.id = found.id;
    this.born = born;
    this.#path = found.path;
    this.#size = found.size;
    this.#modified = modified;
    this.#nextSince = changed;
    this.#isLinked = isLinked;
    this.reading = new FileReading(found, start, settings, (offset) => onInvalidByte(this.#path, offset));
    this.end = new FileEnd({ isFinal: settings.once });
    this.isReadable = found.head !== undefined && this.reading.nonTextFormat === undefined;
  }

  get path(): string {
    return this.#path;
  }

  /** Bytes, as last seen. */
  get size(): number {
    return this.#size;
  }

  /** When it was changed last, as last seen at its path. A file that takes its path later is not older than that. */
  get nextSince(): bigint {
    return this.#nextSince;
  }

  /** A symbolic link leads to it. */
  get isLinked(): boolean {
    return this.#isLinked;
  }

  /** None of the paths that are followed leads to it now. */
  get isGone(): boolean {
    return this.#whereabouts !== 'there';
  }

  /** It is gone, and was not found by another name. */
  get isLost(): boolean {
    return this.#whereabouts === 'lost';
  }

  /** Its path leads to it. A file that is gone has nothing but its descriptor, unless it was found by a new name. */
  get canBeReopened(): boolean {
    return this.#whereabouts === 'there' || this.#whereabouts === 'elsewhere';
  }

  /** It was found by the name that it got since an earlier run: `path` is none that is followed. */
  get isRenamed(): boolean {
    return this.#isRenamed;
  }

  /** It is not followed any more. */
  get isForgotten(): boolean {
    return this.#isForgotten;
  }

  /** Bytes known of and not read. Those that will not be read, because they are not text, do not count. */
  get unread(): number {
    const { nonTextFormat, startsOver, lines } = this.reading;
    if (nonTextFormat !== undefined) return 0;
    return startsOver ? this.#size : Math.max(0, this.#size - lines.readOffset);
  }

  /** It was no text when it was looked at. It was written to since, so it may be text now. */
  get mayBeText(): boolean {
    return this.reading.nonTextFormat !== undefined && this.#refusedAt !== this.#modified;
  }

  /** It was looked at. Returns whether it was written to since the last look. */
  seen({ size, modified, changed, isLinked }: FileChange): boolean {
    const isTouched = this.#modified !== modified;
    this.#modified = modified;
    this.#nextSince = changed;
    this.#isLinked = isLinked;
    this.#size = this.reading.startsOver ? size : Math.max(size, this.reading.lines.readOffset);
    return isTouched;
  }

  /** More was read of it. */
  progressed(): void {
    this.#size = Math.max(this.#size, this.reading.lines.readOffset);
  }

  /** It was read, and is no text. */
  refused(): void {
    this.#refusedAt = this.#modified;
  }

  /** Another of its paths is the one where it is opened. */
  isAt(path: string): void {
    this.#path = path;
  }

  /** A path that is followed leads to it. */
  isFollowedAt(path: string): void {
    if (this.#isRenamed) this.#path = path;
    this.#isRenamed = false;
  }

  /** It was followed in an earlier run, and has another name now. */
  wasRenamed(): void {
    this.#isRenamed = true;
  }

  /** It was rotated away before it was seen at its path. */
  wasRotated(): void {
    this.#nextSince = this.born;
    this.#whereabouts = 'gone';
  }

  /** All paths were looked at. */
  scanned({ isThere }: { readonly isThere: boolean }): void {
    if (isThere) this.#whereabouts = 'there';
    else if (this.#whereabouts === 'there') this.#whereabouts = 'gone';
  }

  foundElsewhere(path: string): void {
    this.#path = path;
    if (this.#whereabouts !== 'there') this.#whereabouts = 'elsewhere';
  }

  notFound(): void {
    if (this.#whereabouts !== 'there') this.#whereabouts = 'lost';
  }

  forget(): void {
    this.#isForgotten = true;
  }

  /** The path where it was found leads to it no more: it may have been renamed once more. */
  moved(): void {
    if (this.#whereabouts !== 'there') this.#whereabouts = 'gone';
  }
}
