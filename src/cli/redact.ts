import { isAscii, isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { LONGEST_LINE, LONGEST_TEXT } from '../../operators/masks/lines-masker.ts';
import type { Redactor } from '../../operators/masks/redact/redactor.ts';
import { steadyClock } from '../../operators/support/steady-clock.ts';
import { createRedactor, type RedactSettings } from '../../plugins/masks/redact.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { loadConfig } from '../config/load-config.ts';
import { safeReason } from '../sdk/errors.ts';
import { printable } from '../sdk/printable.ts';
import type { RedactCommandOptions } from './commands.ts';
import { ExitCode, UsageError } from './errors.ts';
import { count } from './format.ts';
import { knownPack } from './packs.ts';

const LF = 0x0a;
const CR = 0x0d;
const NEWLINE = Buffer.from('\n');
/** What stands in place of a line that could not be masked. */
const WITHHELD = '<:withheld:>';
/** Bytes of results that are written together. */
const WRITE_BYTES = 1 << 16;

/** A line without its terminator, which is to come back as it was. */
interface Line {
  readonly bytes: Buffer;
  readonly terminator: '' | '\n' | '\r\n';
}

/** `millrace redact [FILE…]`: lines on standard output, masked. 1 if a file or a line could not be read or masked. */
export async function redact(files: readonly string[], options: RedactCommandOptions): Promise<number> {
  const settings = await settingsFor(options);
  const redactor = createRedactor(settings, { now: steadyClock(), onMask: () => {} });
  let code: number = ExitCode.ok;
  const failed = (message: string) => {
    code = ExitCode.failed;
    process.stderr.write(`millrace: ${message}\n`);
  };
  const output = new Output();
  for (const file of files.length === 0 ? ['-'] : files) {
    const mask = maskOf(redactor, file, failed);
    try {
      for await (const block of blocksOf(open(file))) {
        for (const part of partsOf(block)) {
          const masked = maskTogether(redactor, file, part) ?? Buffer.concat(linesIn(part).map(mask));
          await output.write(masked);
        }
        await output.flush();
        if (output.isClosed) return output.hasFailed ? ExitCode.failed : code;
      }
    } catch (error) {
      failed(`${printable(file)}: ${safeReason(error)}`);
    }
  }
  await output.flush();
  return output.hasFailed ? ExitCode.failed : code;
}

/** `millrace scan FILE…`: where and by which rule something would be masked. 1 if anything is found, or cannot be read. */
export async function scan(files: readonly string[], options: RedactCommandOptions): Promise<number> {
  if (files.length === 0) throw new UsageError('scan requires at least one FILE');
  const settings = await settingsFor(options);
  let place = '';
  let found = 0;
  let unread = 0;
  const output = new Output();
  const rows: string[] = [];
  const redactor = createRedactor(settings, {
    now: steadyClock(),
    onMask: () => {},
    onFind: ({ rule, start, end }) => {
      found++;
      rows.push(`${place}:${start + 1}: ${rule} (${end - start} characters)\n`);
    },
  });
  for (const file of files) {
    let number = 0;
    const mask = maskOf(redactor, file, (message) => {
      unread++;
      process.stderr.write(`millrace: ${place}: ${message}\n`);
    });
    try {
      for await (const block of blocksOf(open(file))) {
        for (const line of linesIn(block)) {
          place = `${printable(file)}:${++number}`;
          mask(line);
        }
        for (const row of rows.splice(0)) await output.write(Buffer.from(row));
        await output.flush();
      }
    } catch (error) {
      unread++;
      process.stderr.write(`millrace: ${printable(file)}: ${safeReason(error)}\n`);
    }
  }
  process.stderr.write(found === 0 ? 'nothing found\n' : `${count(found)} found\n`);
  return found === 0 && unread === 0 ? ExitCode.ok : ExitCode.failed;
}

/** What to mask: of a configuration, of packs that are named, or by default. */
async function settingsFor({ packs, config }: RedactCommandOptions): Promise<RedactSettings> {
  const named = packs?.split(',').map((name) => knownPack(name.trim()));
  const settings =
    config === undefined ? RedactProcessConfig.parse({ plugin: 'redact' }) : await configured(config);
  // Files: neither written to nor withheld.
  return { ...settings, ...(named && { packs: named }), mode: 'mask', audit: undefined };
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
    const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
    let masked: string;
    try {
      masked = redactor.maskLine(file, bytes.toString(encoding));
    } catch (error) {
      failed(`a line was withheld: ${safeReason(error)}`);
      masked = WITHHELD;
    }
    return Buffer.from(masked + terminator, encoding);
  };
}

function open(file: string): Readable {
  return file === '-' ? process.stdin : createReadStream(file);
}

/** The lines of a stream, as they come, with their terminators. The last one may have none. */
async function* blocksOf(stream: Readable): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(LF) + 1;
    if (end > 0) yield Buffer.concat([...pending, chunk.subarray(0, end)]);
    pending = end > 0 ? [chunk.subarray(end)] : [...pending, chunk];
  }
  const rest = Buffer.concat(pending);
  if (rest.length > 0) yield rest;
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

/** Masks many lines at once. Undefined for lines that have to be masked one by one. */
function maskTogether(redactor: Redactor, file: string, lines: Buffer): Buffer | undefined {
  const many = redactor.many(file);
  const isWhole = lines.at(-1) === LF && lines.length <= LONGEST_TEXT;
  // The rules see lines without their terminators.
  if (many === undefined || !isWhole || lines.includes(CR)) return undefined;
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
