import { concat, concatMap, defer, EMPTY, from, ignoreElements, type Observable, of, tap } from 'rxjs';
import { counted } from '../../support/counted.ts';
import type { FileAppender } from '../append-file.ts';
import { cutBack } from './cut-back.ts';
import { type FileMark, HEAD_BYTES, headDigest } from './file-mark.ts';
import type { OutputFile, OutputLog, OutputPlace } from './output-file.ts';

export interface ExactFileOptions {
  readonly log: OutputLog;
  /** Called ahead of each write, with the mark of where it goes: it may have to be kept before anything is written. */
  readonly begun: (mark: FileMark) => Observable<unknown>;
  /** Called with a file that was removed, and how long it was: see {@link FileAppender.removed$}. */
  readonly removed: (file: OutputPlace) => void;
}

/** Writes texts to one file and says how far it goes, so that what was not confirmed can be cut off after a crash. */
export class ExactFile {
  readonly #appender: FileAppender;
  readonly #options: ExactFileOptions;
  #id: string | undefined;
  #length = 0;
  /** The first bytes of the file. */
  #head: Buffer = Buffer.alloc(0);
  #fullDigest: string | undefined;

  constructor(appender: FileAppender, options: ExactFileOptions) {
    this.#appender = appender;
    this.#options = options;
    appender.removed$.subscribe(options.removed);
  }

  /** Cuts off what lies past the marks. Errors if that cannot be, as {@link cutBack} does. */
  restore(marks: readonly FileMark[]): Observable<never> {
    const { log } = this.#options;
    const cut$ = from(marks).pipe(
      concatMap((mark) =>
        cutBack(mark).pipe(
          tap((cut) =>
            log.warn(
              cut === 'gone'
                ? `${mark.path} is gone, of which nothing was confirmed; all that was in it is written again. If it was moved or compressed, delete that copy`
                : `${mark.path}: what was not confirmed, ${counted(cut, 'byte')}, was cut off; it comes again`,
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

  /** Forces what was written to the disk. */
  sync(): Observable<never> {
    return this.#appender.sync();
  }

  #begin(file: OutputFile): Observable<unknown> {
    const { id, length } = file.place;
    const isKnown = id === this.#id && length === this.#length;
    return concat(
      isKnown ? EMPTY : this.#lookAt(file),
      defer(() => {
        this.#length = length;
        return this.#options.begun(this.#mark());
      }),
    );
  }

  /** Another file, or one that somebody else has written to or cut off. */
  #lookAt(file: OutputFile): Observable<never> {
    return file.read(HEAD_BYTES).pipe(
      tap((head) => {
        this.#id = file.id;
        this.#head = head;
        this.#fullDigest = undefined;
      }),
      ignoreElements(),
    );
  }

  #advance(text: Buffer): FileMark {
    this.#length += text.length;
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, text]).subarray(0, HEAD_BYTES);
      this.#fullDigest = undefined;
    }
    return this.#mark();
  }

  #mark(): FileMark {
    this.#fullDigest ??= headDigest(this.#head, this.#length);
    return { id: this.#id ?? '', path: this.#appender.path, length: this.#length, head: this.#fullDigest };
  }
}
