import { counted } from '../../support/counted.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';
import type { Verdict } from './same-file.ts';

const ADVICE = 'let logrotate rename files instead';

type LossSettings = Pick<FollowSettings, 'log' | 'onGap' | 'onTruncation' | 'onLostFile'>;

/** Reports what of followed files is lost, skipped or changed on the way. */
export class LossReport {
  readonly #settings: LossSettings;

  constructor(settings: LossSettings) {
    this.#settings = settings;
  }

  /**
   * The file no longer holds what was read of it: what is held is the start of a line, then it is read from its beginning.
   * Reported once, until that is done.
   */
  startsOver(file: FollowedFile, verdict: Exclude<Verdict, 'same'>): void {
    const { path, unread } = file;
    if (!file.reading.startOver()) return;
    this.#settings.onTruncation();
    if (verdict === 'replaced') this.#replaced(path);
    else this.#truncated(path, unread);
  }

  /** The file is gone. If it is there and cannot be read, that was reported. */
  gone({ path, unread: bytes, isGone }: FollowedFile): void {
    if (bytes === 0 || !isGone) return;
    this.#settings.onGap(bytes);
    this.#settings.onLostFile();
    this.#settings.log.warn(`${path} went away before it was read to its end`, { path, bytes });
  }

  /** What was skipped at the start of the file, once it is known. */
  skipped({ path, reading }: FollowedFile): void {
    const { log } = this.#settings;
    const bytes = reading.lines.takeHoleBytes();
    if (bytes > 0) {
      log.warn(
        `${path} starts with ${counted(bytes, 'NUL byte')}, which were skipped: it was truncated, and its writer does ` +
          'not open it for appending',
        { path, bytes },
      );
    }
    if (reading.takeIsMidLine()) {
      log.warn(`${path} ended in a line longer than \`max_line_bytes\`: starting after it`, { path });
    }
  }

  invalidByte(path: string, offset: number): void {
    this.#settings.log.warn(
      `${path} is not UTF-8: the byte at offset ${offset} and others like it become U+FFFD. If the file has another ` +
        'encoding, set `encoding`, for example `encoding: windows-1252`',
      { path, offset },
    );
  }

  /**
   * The file has become shorter. Bytes that were seen and not read are counted as lost. How many were written and cut off
   * between two looks cannot be known.
   */
  #truncated(path: string, bytes: number): void {
    const { log, onGap } = this.#settings;
    if (bytes === 0) {
      log.warn(
        `${path} was truncated: reading it from its beginning. Lines written just before the truncation may be ` +
          `lost, an unknown number; ${ADVICE}`,
        { path },
      );
      return;
    }
    onGap(bytes);
    log.warn(
      `${path} was truncated before it was read: lost at least ${counted(bytes, 'byte')}, and an unknown number ` +
        `that was written just before; ${ADVICE}`,
      { path, bytes },
    );
  }

  /**
   * The bytes that were read have changed: the file was truncated and has grown again, or another file has got its inode. It
   * is not known what of its present content is new, so nothing counts as lost.
   */
  #replaced(path: string): void {
    this.#settings.log.warn(
      `${path} no longer holds what was read of it, so it was truncated or replaced: reading it from its ` +
        `beginning. Lines written just before that may be lost, an unknown number; ${ADVICE}`,
      { path },
    );
  }
}
