import { concat, concatMap, defer, EMPTY, from, type Observable, of, tap } from 'rxjs';
import type { FileAppender } from '../append-file.ts';
import { counted } from '../counted.ts';
import { cutBack } from './cut-back.ts';
import { type FileMark, HEAD_BYTES, headDigest } from './file-mark.ts';
import type { OutputFile, OutputLog, OutputPlace } from './output-file.ts';

export interface ExactFileOptions {
  readonly log: OutputLog;
  /** Called ahead of the first write to a file, with its mark: it must be kept before anything is written. */
  readonly begun: (mark: FileMark) => Observable<unknown>;
}

/** Writes texts to one file and says how far it goes, so that what was not confirmed can be cut off after a crash. */
export class ExactFile {
  readonly #appender: FileAppender;
  readonly #options: ExactFileOptions;
  /** Files that were removed, and how long they were. */
  #removed: OutputPlace[] = [];
  #id: string | undefined;
  #length = 0;
  /** The first bytes of the file. */
  #head: Buffer = Buffer.alloc(0);
  #fullDigest: string | undefined;

  constructor(appender: FileAppender, options: ExactFileOptions) {
    this.#appender = appender;
    this.#options = options;
    appender.removed$.subscribe((place) => this.#removed.push(place));
  }

  /** Cuts off what lies past the marks. Errors if that cannot be, as {@link cutBack} does. */
  restore(marks: readonly FileMark[]): Observable<never> {
    const { log } = this.#options;
    const cut$ = from(marks).pipe(
      concatMap((mark) =>
        cutBack(mark).pipe(
          tap((bytes) =>
            log.warn(
              `${mark.path}: what was not confirmed, ${counted(bytes, 'byte')}, was cut off; it comes again`,
            ),
          ),
        ),
      ),
    );
    return this.#appender.aside(() => cut$);
  }

  /** Appends all of `texts` or none; emits the marks behind each of them, once. */
  write(texts: readonly string[]): Observable<readonly FileMark[]> {
    const bytes = texts.map((text) => Buffer.from(text));
    return concat(
      this.#appender.append(Buffer.concat(bytes), { fsync: 'interval', before: (file) => this.#begin(file) }),
      defer(() => of(bytes.map((text) => this.#advance(text)))),
    );
  }

  /** Forces what was written to the disk. Emits the marks of files that were longer, and are gone. */
  sync(committed: readonly FileMark[]): Observable<FileMark> {
    return concat(
      this.#appender.sync(),
      defer(() => {
        const removed = this.#removed;
        this.#removed = [];
        return committed.filter((mark) =>
          removed.some(({ id, length }) => id === mark.id && length > mark.length),
        );
      }),
    );
  }

  /** Another file, or one that somebody has cut off, begins anew. */
  #begin(file: OutputFile): Observable<unknown> {
    const { id, length } = file.place;
    if (id === this.#id && length >= this.#length) {
      this.#length = length;
      return EMPTY;
    }
    return file.read(HEAD_BYTES).pipe(
      concatMap((head) => {
        const digest = headDigest(head, length);
        return concat(
          this.#options.begun({ id, path: this.#appender.path, length, head: digest }),
          defer(() => {
            this.#id = id;
            this.#length = length;
            this.#head = head;
            this.#fullDigest = undefined;
            return EMPTY;
          }),
        );
      }),
    );
  }

  #advance(text: Buffer): FileMark {
    this.#length += text.length;
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, text]).subarray(0, HEAD_BYTES);
      this.#fullDigest = undefined;
    }
    this.#fullDigest ??= headDigest(this.#head, this.#length);
    return { id: this.#id ?? '', path: this.#appender.path, length: this.#length, head: this.#fullDigest };
  }
}
