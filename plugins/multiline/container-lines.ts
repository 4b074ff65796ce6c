import { jsonTokens } from '../../src/sdk/index.ts';

/** How a runtime of containers stores lines. It cuts those of more than 16 KiB into parts, each in a line of its own. */
interface ContainerFormat {
  /** `stdout` or `stderr`; undefined for a line in another format. */
  readonly streamOf: (line: string) => string | undefined;
  /** Whether a line holds the whole line of the container, the last part of one, or another part. */
  readonly partOf: (line: string) => 'last' | 'other' | undefined;
  /** Whether lines are cut between bytes, also inside a character. */
  readonly joinsBytes: boolean;
  /** One line in the same format, with the content of all parts. */
  readonly join: (lines: readonly string[]) => string;
  /** Whether one of these lines, with LF between them, may be a part that others follow. */
  readonly mayHaveParts: (lines: string) => boolean;
}

/** Time, stream, `F` for a last part or `P` with optional tags, and the content. */
const CRI = /^(\d{4}-\d\d-\d\dT\S+ (stdout|stderr) )([FP](?::\S*)? )/;
const CRI_PART = /^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) P(?::\S*)? /m;

const cri: ContainerFormat = {
  joinsBytes: true,
  streamOf: (line) => CRI.exec(line)?.[2],
  partOf: (line) => {
    const flag = CRI.exec(line)?.[3];
    return flag === undefined ? undefined : flag.startsWith('F') ? 'last' : 'other';
  },
  join: (lines) => {
    const parts = lines.map((line) => CRI.exec(line) as RegExpExecArray);
    const contents = lines.map((line, index) => line.slice(parts[index]?.[0].length));
    return `${parts[0]?.[1]}${parts.at(-1)?.[3]}${contents.join('')}`;
  },
  mayHaveParts: (lines) => CRI_PART.test(lines),
};

interface DockerLine {
  readonly log: string;
  readonly stream: string;
}

function dockerLine(line: string): DockerLine | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { log, stream } = JSON.parse(line) as Partial<DockerLine>;
    return typeof log === 'string' && typeof stream === 'string' ? { log, stream } : undefined;
  } catch {
    return undefined;
  }
}

/** Where the value of `log` stands in a line. The rest of the line stays as it is: numbers keep all their digits. */
function placeOfLog(line: string): [start: number, end: number] {
  let place: [number, number] = [0, 0];
  let depth = 0;
  let before = '';
  let isLog = false;
  for (const { token, start, end } of jsonTokens(line)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (depth === 1 && token === ':') isLog = JSON.parse(before) === 'log';
    // The last of several fields with one name is the one that counts.
    else if (depth === 1 && isLog && token.startsWith('"')) place = [start, end];
    if (token !== ':') isLog = false;
    before = token;
  }
  return place;
}

/**
 * A JSON object that is not certainly a whole line as Docker writes it: `\n` and then the stream. Behind another
 * backslash, `\n` may stand for a backslash and an `n`.
 */
const DOCKER_PART = /^\{(?!.*[^\\]\\n","stream":")/m;

const docker: ContainerFormat = {
  // Each part is JSON of its own, in which half of a character is U+FFFD already.
  joinsBytes: false,
  streamOf: (line) => dockerLine(line)?.stream,
  partOf: (line) => {
    const log = dockerLine(line)?.log;
    return log === undefined ? undefined : log.endsWith('\n') ? 'last' : 'other';
  },
  join: (lines) => {
    const [first = ''] = lines;
    const log = JSON.stringify(lines.map((line) => dockerLine(line)?.log).join(''));
    const [start, end] = placeOfLog(first);
    return first.slice(0, start) + log + first.slice(end);
  },
  mayHaveParts: (lines) => DOCKER_PART.test(lines),
};

export const CONTAINER_FORMATS = { cri, docker } as const;
export type ContainerFormatName = keyof typeof CONTAINER_FORMATS;
