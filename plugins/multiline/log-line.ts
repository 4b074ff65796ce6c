/** Characters of a long line that are looked at: its start, and its end. */
const START = 3840;
const END = 256;

const TIME = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|[+-]\d\d:?\d\d))?`;
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const LEVEL = 'TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|SEVERE|ALERT|EMERG';

/**
 * What is put in front of every line that a program writes, so that the lines of a stack trace have it too: by
 * `docker compose logs`, `kubectl logs --prefix`, `kubectl logs --timestamps`, containerd, syslog, and loggers that write
 * each line on its own, as that of Ruby.
 */
export const LINE_PREFIX = String.raw`(?:[A-Za-z][\w.-]{0,63} {1,64}\| |\[pod\/[^\]\n]{1,256}\] )?(?:${[
  String.raw`\[?${TIME}(?:\]| (?:stdout|stderr) [FP](?::\w{0,16})?| [^\s:=]{1,255} [^\s:=]{1,64}\[\d{1,10}\]:)?(?: |$)`,
  String.raw`<\d{1,3}>(?:1 \S{1,64} \S{1,255} \S{1,64} \S{1,128} \S{1,64} (?:-|\[[^\]\n]{1,256}\]) |${TIME} \S{1,255} \S{1,64}\[\d{1,10}\]:(?: |$))`,
  String.raw`(?:<\d{1,3}>)?${MONTH} [ \d]\d \d\d:\d\d:\d\d \S{1,255} [^\s:]{1,128}:(?: |$)`,
  String.raw`[DIWEFA], \[[^\]\n]{1,64}\] {1,2}[A-Z]{4,5} -- [^:\n]{0,64}:(?: \[[^\]\n]{1,64}\]){0,4}(?: |$)`,
].join('|')})?`;

const PREFIX = new RegExp(`^${LINE_PREFIX}`);

/** How a record of a log begins in the usual formats: with a time, a level, an address, or as JSON or `key=value`. */
const RECORD = new RegExp(
  `^(?:${[
    String.raw`[[(]?\d{4}[-/.]\d\d[-/.]\d\d`,
    String.raw`[[(]?\d{1,2}[-/. ](?:\d\d|${MONTH})[-/. ,]`,
    String.raw`[[(]?\d\d:\d\d:\d\d`,
    String.raw`[[(]?(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?${MONTH} {1,2}\d{1,2}[ ,]`,
    String.raw`[[(]?\d{10,13}(?:\.\d{1,9})?[\s\])]`,
    String.raw`<\d{1,3}>`,
    String.raw`[IWEFD]\d{4} \d\d:`,
    String.raw`[DIWEFA], \[`,
    String.raw`[[(<*|]?(?:${LEVEL})[\])>*|]?(?:[:\s|]|$)`,
    String.raw`\[(?:${LEVEL.toLowerCase()}|fail|crit|dbug)\]`,
    `(?:${LEVEL.toLowerCase()}|fail|crit|dbug):`,
    String.raw`\{"`,
    `(?:time|timestamp|ts|t|at|level|lvl|severity|msg)=`,
    String.raw`\d{1,3}(?:\.\d{1,3}){3} `,
  ].join('|')})`,
);

/** The part of a line that the expressions of a preset look at, and what it has in front of it. */
export interface LogLine {
  readonly prefix: string;
  readonly content: string;
}

/** Takes a line apart, without its colours and line break. Looks at a bounded part of it, however long it is. */
export function readLine(line: string): LogLine {
  let text = line.length > START + END ? `${line.slice(0, START)}…${line.slice(-END)}` : line;
  if (text.endsWith('\n')) text = text.slice(0, -1);
  if (text.endsWith('\r')) text = text.slice(0, -1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
  if (text.includes('\x1b')) text = text.replace(/\x1b\[[\d;]{0,32}[mK]/g, '');
  const prefix = PREFIX.exec(text)?.[0] ?? '';
  // rsyslog writes a tab as `#011`.
  const content = text.slice(prefix.length);
  return { prefix, content: content.startsWith('#011') ? content.replace(/^(?:#011)+/, '\t') : content };
}

/** Whether a line begins a record of a log, so that it cannot be the next line of a message. */
export const isRecord = (line: string): boolean => RECORD.test(line);
