type Fields = Readonly<Record<string, unknown>>;

/** Parses a text; undefined if it is not in the format. */
export type Parser = (text: string) => unknown;

/** Characters. A text that is longer is not parsed. */
const LONGEST_JSON = 4 * 1024 * 1024;
const DEEPEST_JSON = 64;

export function parseJson(text: string): unknown {
  if (text.length > LONGEST_JSON) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value, DEEPEST_JSON) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1));
}

const PAIR = /\s*([^\s="]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*)))?(?=\s|$)/y;

/** `level=info msg="it works" dry_run`: values are strings, and a key without a value is `true`. */
export function parseLogfmt(text: string): Fields | undefined {
  const fields: [string, string | true][] = [];
  const end = text.trimEnd().length;
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < end) {
    const match = PAIR.exec(text);
    if (match === null) return undefined;
    const [, key = '', quoted, bare] = match;
    fields.push([key, (quoted === undefined ? bare : unescaped(quoted)) ?? true]);
  }
  // Any sentence is made of keys without values.
  return fields.some(([, value]) => value !== true) ? Object.fromEntries(fields) : undefined;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);
}

/** One line of CSV as in RFC 4180, with a name for each column. */
export function csvParser(columns: readonly string[], delimiter: string): Parser {
  return (text) => {
    const values = csvValues(text, delimiter);
    if (values?.length !== columns.length) return undefined;
    return Object.fromEntries(columns.map((column, index) => [column, values[index]]));
  };
}

function csvValues(text: string, delimiter: string): string[] | undefined {
  const values: string[] = [];
  for (let at = 0; ; ) {
    let end: number;
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      if (close === -1) return undefined;
      values.push(text.slice(at + 1, close).replaceAll('""', '"'));
      end = close + 1;
    } else {
      const next = text.indexOf(delimiter, at);
      end = next === -1 ? text.length : next;
      values.push(text.slice(at, end));
    }
    if (end === text.length) return values;
    if (!text.startsWith(delimiter, end)) return undefined;
    at = end + delimiter.length;
  }
}

function closingQuote(text: string, start: number): number {
  let at = text.indexOf('"', start);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

const COMBINED =
  /^(\S+) \S+ (\S+) \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?(?: |$)/;
const REQUEST = /^(\S+) (\S+)(?: (\S+))?$/;

/** The access log of Apache and nginx, `common` included. What is `-` in it is left out. */
export function parseCombined(text: string): Fields | undefined {
  const match = COMBINED.exec(text);
  if (match === null) return undefined;
  const [, remote_addr, user, time, request = '', status, bytes, referer, user_agent] = match;
  const [, method, path, protocol] = REQUEST.exec(request) ?? [];
  const fields = {
    remote_addr,
    user,
    time,
    ...(method === undefined ? { request } : { method, path, protocol }),
    status: Number(status),
    bytes: bytes === '-' ? 0 : Number(bytes),
    referer,
    user_agent,
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== '-'),
  );
}

const CRI = /^(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([FP])(?::\S*)? (.*)$/s;

/** A line of a container's log as Kubernetes stores it. The line that the container wrote becomes `line`. */
export function parseCri(text: string): Fields | undefined {
  const [, time, stream, flag, line] = CRI.exec(text) ?? [];
  return time === undefined ? undefined : { time, stream, partial: flag === 'P', line };
}
