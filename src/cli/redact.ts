import { isAscii, isUtf8 } from 'node:buffer';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_LINE_BYTES, steadyClock } from '../../operators/internal.ts';
import {
  type LinesMasker,
  LONGEST_LINE,
  LONGEST_TEXT,
  type Redactor,
} from '../../operators/internal-masks.ts';
import { createRedactor, type RedactSettings } from '../../plugins/masks/redact-masking.ts';
import { packsOf } from '../../plugins/packs/load-packs.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { TimeLimit } from '../../plugins/time-limits/bounded-time.ts';
import { loadConfig } from '../config/load-config.ts';
import { safeReason } from '../sdk/errors.ts';
import { printable } from '../sdk/printable.ts';
import { isClosed } from './closed-output.ts';
import type { RedactCommandOptions } from './commands.ts';
import { ExitCode, UsageError } from './errors.ts';
import { count, counted } from './format.ts';
import { knownPacks } from './packs.ts';
import { NoText, TextInput } from './text-input.ts';

const LF = 0x0a;
const CR = 0x0d;
const NEWLINE = Buffer.from('\n');
/** An input could not be read, or is no text: grep's exit code. */
const UNREAD = 2;
/** What stands in place of a line that could not be masked. */
const WITHHELD = '<:withheld:>';
/** Bytes at the start of a source in which the end of a private key would be. */
const MOST_FIRST_BYTES = 1 << 15;
/** Bytes of results that are written together. */
const WRITE_BYTES = 1 << 16;

/** A line without its terminator, which is to come back as it was. */
interface Line {
  readonly bytes: Buffer;
  readonly terminator: '' | '\n' | '\r\n';
}

/** `millrace redact [FILE…]`: lines on standard output, masked. 1 if a line could not be masked, 2 if a file is no text. */
export async function redact(files: readonly string[], options: RedactCommandOptions): Promise<number> {
  const settings = await settingsFor(options);
  if (isClosed(process.stdout.fd)) {
    report('standard output is closed, so no line can be written; redirect it to a file or a pipe');
    return ExitCode.failed;
  }
  const limit = new TimeLimit();
  const redactor = createRedactor(settings, { now: steadyClock(), onMask: () => {}, limit });
  let code: number = ExitCode.ok;
  const output = new Output();
  for (const file of files.length === 0 ? ['-'] : files) {
    let number = 0;
    const maskLine = maskOf(redactor, file, (message) => {
      if (code === ExitCode.ok) code = ExitCode.failed;
      report(`${placeOf(file, number)}: ${message}`);
    });
    const mask = (line: Line) => {
      number++;
      return maskLine(line);
    };
    try {
      const input = new TextInput(file);
      const together = new TogetherMasker(redactor, file, limit);
      for await (const block of withFirstLines(input.blocks(), redactor, file)) {
        for (const part of partsOf(block)) {
          for (let at = 0; at < part.length; ) {
            const lines = part.subarray(at, endOfLines(part, at, together.most));
            const masked = together.mask(lines);
            if (masked === undefined && together.mayRetry(lines)) continue;
            if (masked !== undefined) number += numberOf(LF, lines);
            await output.write(masked ?? Buffer.concat(linesIn(lines).map(mask)));
            at += lines.length;
          }
        }
        await output.flush();
        if (output.isClosed) return output.hasFailed ? ExitCode.failed : code;
      }
      reportHoles(file, input);
    } catch (error) {
      code = UNREAD;
      report(unreadMessage(file, error));
    }
  }
  await output.flush();
  return output.hasFailed ? ExitCode.failed : code;
}

/**
 * `millrace scan PATH…`: where and by which rule something would be masked, in files and in the files of folders. 1 if
 * anything is found, 2 if a path cannot be read. Files of folders that are no text are skipped.
 */
export async function scan(paths: readonly string[], options: RedactCommandOptions): Promise<number> {
  if (paths.length === 0) throw new UsageError('scan requires at least one FILE; - is standard input');
  const settings = await settingsFor(options);
  let place = '';
  let found = 0;
  let read = 0;
  let unread = 0;
  let skipped = 0;
  const output = new Output();
  const rows: string[] = [];
  const redactor = createRedactor(settings, {
    now: steadyClock(),
    onMask: () => {},
    onFind: ({ rule, start, end }) => {
      found++;
      rows.push(`${place}:${start + 1}: ${rule} (${counted(end - start, 'character')})\n`);
    },
  });
  const failed = (message: string) => {
    unread++;
    report(message);
  };
  for await (const { file, isNamed } of filesAt(paths, failed)) {
    let number = 0;
    const mask = maskOf(redactor, file, (message) => failed(`${place}: ${message}`));
    try {
      const input = new TextInput(file);
      for await (const block of withFirstLines(input.blocks(), redactor, file)) {
        for (const line of linesIn(block)) {
          place = placeOf(file, ++number);
          mask(line);
        }
        for (const row of rows.splice(0)) await output.write(Buffer.from(row));
        await output.flush();
      }
      reportHoles(file, input);
      read++;
    } catch (error) {
      if (error instanceof NoText && !isNamed) skipped++;
      else failed(unreadMessage(file, error));
    }
  }
  // Nothing can be said of files of which none was read.
  if (read === 0 && found === 0 && unread > 0) return UNREAD;
  const files = skipped === 1 ? '1 file that is' : `${count(skipped)} files that are`;
  const rest = skipped === 0 ? '' : `; skipped ${files} not text`;
  process.stderr.write(`${found === 0 ? 'nothing' : count(found)} found${rest}\n`);
  if (unread > 0) return UNREAD;
  return found === 0 ? ExitCode.ok : ExitCode.failed;
}

const placeOf = (file: string, line: number) =>
  `${file === '-' ? 'standard input' : printable(file)}:${line}`;

function report(message: string): void {
  process.stderr.write(`millrace: ${message}\n`);
}

function reportHoles(file: string, { holeBytes }: TextInput): void {
  if (holeBytes === 0) return;
  const bytes = counted(holeBytes, 'NUL byte');
  report(
    `${file === '-' ? 'standard input' : printable(file)}: left out ${bytes} in a row, as a truncation or a crash leaves them`,
  );
}

/** Shows the redactor as many of the first lines of a source as it takes to tell the rest of a key from other base64. */
async function* withFirstLines(
  blocks: AsyncIterable<Buffer>,
  redactor: Redactor,
  source: string,
): AsyncGenerator<Buffer> {
  let first: Buffer | undefined = Buffer.alloc(0);
  for await (const block of blocks) {
    if (first === undefined) {
      yield block;
      continue;
    }
    first = first.length === 0 ? block : Buffer.concat([first, block]);
    const text = first.toString('latin1', 0, MOST_FIRST_BYTES);
    if (!redactor.startSource(source, text) && first.length < MOST_FIRST_BYTES) continue;
    yield first;
    first = undefined;
  }
  if (first !== undefined && first.length > 0) yield first;
}

function unreadMessage(file: string, error: unknown): string {
  const isFolder = (error as NodeJS.ErrnoException).code === 'EISDIR';
  const reason = isFolder ? 'it is a folder; name the files in it' : safeReason(error);
  return `${printable(file)}: ${reason}`;
}

/** Files by their paths, and those in folders, which have to be found first. Links in folders are not followed. */
async function* filesAt(
  paths: readonly string[],
  failed: (message: string) => void,
): AsyncGenerator<{ file: string; isNamed: boolean }> {
  for (const path of paths) {
    try {
      if (path === '-' || !(await stat(path)).isDirectory()) {
        yield { file: path, isNamed: true };
        continue;
      }
      for await (const file of filesIn(path)) yield { file, isNamed: false };
    } catch (error) {
      failed(unreadMessage(path, error));
    }
  }
}

/** Without `.git`, whose files are compressed. */
async function* filesIn(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== '.git') yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}

/** What to mask: of a configuration, of packs that are named, or by default. */
async function settingsFor({ packs, pii, config }: RedactCommandOptions): Promise<RedactSettings> {
  const option = packs === undefined ? '--pii' : '--packs';
  if ((packs !== undefined || pii) && config !== undefined) {
    throw new UsageError(
      `${option} and --config exclude each other; write the packs into \`packs\` of the \`redact\` processor, or leave out --config`,
    );
  }
  const names = packs ?? (pii ? 'default' : undefined);
  const named = names
    ?.split(',')
    .map((name) => name.trim())
    .flatMap(packsOf);
  if (pii) named?.push(...packsOf('all').filter((name) => name.startsWith('pii/')));
  const settings =
    config === undefined ? RedactProcessConfig.parse({ plugin: 'redact' }) : await configured(config);
  // Files: neither written to nor withheld.
  const rules = named && { packs: [...knownPacks([...new Set(named)])] };
  return { ...settings, ...rules, mode: 'mask', audit: undefined };
}

async function configured(file: string): Promise<RedactProcessConfig> {
  const { config } = await loadConfig([file], { ignoreTests: true });
  const entries = Object.entries(config.processors).filter(([, { plugin }]) => plugin === 'redact');
  const [first, ...others] = entries;
  if (first === undefined) throw new UsageError(`${printable(file)} has no \`redact\` processor`);
  if (others.length > 0) {
    const names = entries.map(([name]) => `\`${name}\``).join(', ');
    throw new UsageError(`${printable(file)} has several \`redact\` processors: ${names}; it must have one`);
  }
  return first[1] as unknown as RedactProcessConfig;
}

/** Masks the lines of a file. A line that is not UTF-8 is masked and written byte by byte. */
function maskOf(redactor: Redactor, file: string, failed: (message: string) => void): (line: Line) => Buffer {
  return ({ bytes, terminator }) => {
    if (bytes.length > MAX_LINE_BYTES) {
      failed(
        `the line was withheld: it is longer than ${MAX_LINE_BYTES / 1024 ** 2} MiB, the most that is searched`,
      );
      return Buffer.from(WITHHELD + terminator);
    }
    const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
    let masked: string;
    try {
      masked = redactor.maskLine(file, bytes.toString(encoding));
    } catch (error) {
      failed(`the line was withheld: ${reasonOf(error, bytes.length)}`);
      masked = WITHHELD;
    }
    return Buffer.from(masked + terminator, encoding);
  };
}

/** V8 throws a RangeError for a match that is too long for its stack. */
function reasonOf(error: unknown, bytes: number): string {
  if (!(error instanceof RangeError)) return safeReason(error);
  return `a value in its ${counted(bytes, 'byte')} is too long for the expression of a rule`;
}

/** Parts of a block that can be masked at once: lines of no great length together, and longer ones by themselves. */
function* partsOf(block: Buffer): Generator<Buffer> {
  let start = 0;
  for (let at = 0; at < block.length; ) {
    const lf = block.indexOf(LF, at);
    const end = lf === -1 ? block.length : lf + 1;
    const isLong = end - at > LONGEST_LINE;
    if (at > start && (isLong || end - start > LONGEST_TEXT)) {
      yield block.subarray(start, at);
      start = at;
    }
    if (isLong) {
      yield block.subarray(at, end);
      start = end;
    }
    at = end;
  }
  if (start < block.length) yield block.subarray(start);
}

/** Where lines end that have at most so many bytes; the first one may have more. */
function endOfLines(block: Buffer, start: number, most: number): number {
  if (block.length - start <= most) return block.length;
  const last = block.lastIndexOf(LF, start + most - 1);
  const end = last < start ? block.indexOf(LF, start) : last;
  return end === -1 ? block.length : end + 1;
}

function numberOf(byte: number, bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count++;
  return count;
}

/** Fewer bytes are masked line by line. */
const FEW_BYTES = 2048;

/**
 * Masks many lines of a file at once. One among them that has to be masked by itself is looked for in ever fewer lines, and
 * the lines after it are masked in ever larger numbers again.
 */
class TogetherMasker {
  /** How many bytes to mask together. */
  most = LONGEST_TEXT;
  readonly #redactor: Redactor;
  readonly #file: string;
  readonly #limit: TimeLimit;

  constructor(redactor: Redactor, file: string, limit: TimeLimit) {
    this.#redactor = redactor;
    this.#file = file;
    this.#limit = limit;
  }

  /** Undefined for lines that could not be masked together. */
  mask(lines: Buffer): Buffer | undefined {
    const many = this.#redactor.many(this.#file);
    if (many === undefined || lines.at(-1) !== LF || lines.length > LONGEST_TEXT) return undefined;
    // The rules see lines without their terminators.
    const bare = lines.includes(CR) ? withoutCr(lines) : undefined;
    const masked = this.#limit.share(() => maskTogether(many, bare?.lines ?? lines));
    if (masked === undefined) return undefined;
    this.most = Math.min(2 * this.most, LONGEST_TEXT);
    return bare === undefined ? masked : withCr(masked, bare.hadCr);
  }

  /** Whether fewer of the lines are to be tried. */
  mayRetry(lines: Buffer): boolean {
    const lf = lines.indexOf(LF);
    if (lines.length <= FEW_BYTES || lf === -1 || lf === lines.length - 1) return false;
    this.most = Math.max(FEW_BYTES, lines.length >> 2);
    return true;
  }
}

function maskTogether(many: LinesMasker, lines: Buffer): Buffer | undefined {
  const body = lines.subarray(0, -NEWLINE.length);
  try {
    if (isAscii(body)) {
      const masked = Buffer.allocUnsafe(2 * lines.length + 1024);
      const length = many.mapBytes?.(body, masked) ?? -1;
      if (length !== -1) {
        masked[length] = LF;
        return masked.subarray(0, length + 1);
      }
    }
    return isUtf8(body) ? Buffer.from(`${many.map(body.toString())}\n`) : undefined;
  } catch {
    return undefined;
  }
}

/** Lines without the CR in front of each LF, and which of them had one. */
function withoutCr(lines: Buffer): { readonly lines: Buffer; readonly hadCr: readonly boolean[] } {
  const bare = Buffer.allocUnsafe(lines.length);
  const hadCr: boolean[] = [];
  let length = 0;
  for (let start = 0; start < lines.length; ) {
    const lf = lines.indexOf(LF, start);
    const isCrLf = lf > start && lines[lf - 1] === CR;
    length += lines.copy(bare, length, start, isCrLf ? lf - 1 : lf);
    bare[length++] = LF;
    hadCr.push(isCrLf);
    start = lf + 1;
  }
  return { lines: bare.subarray(0, length), hadCr };
}

function withCr(lines: Buffer, hadCr: readonly boolean[]): Buffer {
  const whole = Buffer.allocUnsafe(lines.length + hadCr.length);
  let length = 0;
  let start = 0;
  for (const isCrLf of hadCr) {
    const lf = lines.indexOf(LF, start);
    length += lines.copy(whole, length, start, lf);
    if (isCrLf) whole[length++] = CR;
    whole[length++] = LF;
    start = lf + 1;
  }
  return whole.subarray(0, length);
}

function linesIn(block: Buffer): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < block.length; ) {
    const lf = block.indexOf(LF, start);
    const end = lf === -1 ? block.length : lf;
    const line = block.subarray(start, end);
    const isCrLf = lf !== -1 && line.at(-1) === CR;
    if (isCrLf) lines.push({ bytes: line.subarray(0, -1), terminator: '\r\n' });
    else lines.push({ bytes: line, terminator: lf === -1 ? '' : '\n' });
    start = end + 1;
  }
  return lines;
}

/** Standard output, which waits for its reader. */
class Output {
  #buffers: Buffer[] = [];
  #bytes = 0;

  /** Its reader has left, or it cannot be written to. */
  isClosed = false;
  /** It cannot be written to, so lines are missing: its disk is full, for example. */
  hasFailed = false;

  async write(bytes: Buffer): Promise<void> {
    this.#buffers.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= WRITE_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#bytes === 0 || this.isClosed) return;
    const bytes = Buffer.concat(this.#buffers);
    this.#buffers = [];
    this.#bytes = 0;
    const error = await new Promise<NodeJS.ErrnoException | null | undefined>((written) => {
      process.stdout.write(bytes, written);
    });
    if (!error) return;
    this.isClosed = true;
    this.hasFailed = error.code !== 'EPIPE';
  }
}
