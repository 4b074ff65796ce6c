import { exactNumber, requestFields } from './access-logs.ts';
import type { Fields } from './formats.ts';

const NGINX = /^(\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d) \[(\w+)\] (\d+)#(\d+): (?:\*(\d+) )?(.*)$/s;
/** What nginx appends to the messages about a request. */
const NGINX_REQUEST =
  /^client: ([^\s,"]+), server: ([^,"]*)(?:, request: "([^"]*)")?(?:, subrequest: "([^"]*)")?(?:, upstream: "([^"]*)")?(?:, host: "([^"]*)")?(?:, referrer: "([^"]*)")?$/;
const CLIENT = ', client: ';
/** Bytes. nginx cuts a line at 2,048, so a longer one may have lost what nginx appended. */
const MAYBE_CUT = 2000;

/** The error log of nginx. */
export function parseNginxError(line: string): Fields | undefined {
  const [, time, level, pid, tid, connection, text = ''] = NGINX.exec(line) ?? [];
  if (time === undefined) return undefined;
  return {
    time,
    level,
    pid: Number(pid),
    tid: Number(tid),
    ...(connection !== undefined && { connection: Number(connection) }),
    ...(Buffer.byteLength(line) < MAYBE_CUT ? messageFields(text) : { message: text }),
  };
}

/**
 * The message without what nginx appended to it. nginx escapes nothing in this log: where a client has sent what looks
 * like that, the message stays whole, so that it cannot give itself another address.
 */
function messageFields(text: string): Fields {
  const at = text.indexOf(CLIENT);
  const isUnique = at === text.lastIndexOf(CLIENT);
  const found = isUnique && at !== -1 ? NGINX_REQUEST.exec(text.slice(at + 2)) : null;
  if (found === null) return { message: text };
  const [, remote_addr, server_name, request, subrequest, upstream, host, referer] = found;
  const fields = { remote_addr, server_name, subrequest, upstream, host, referer };
  return {
    message: text.slice(0, at),
    ...(request !== undefined && requestFields(request)),
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
  };
}

const APACHE =
  /^\[(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? \d{4})\] \[(?:([\w-]*):)?(\w+)\](?: \[pid (\d+)(?::tid (\d+))?\])?(?: ([\w./-]+\(\d+\)):)?(?: \[(?:remote|client) ([^\]]+)\])? (.*)$/s;

/** The error log of Apache, 2.4 and 2.2. */
export function parseApacheError(line: string): Fields | undefined {
  const [, time, module, level, pid, tid, location, client, message] = APACHE.exec(line) ?? [];
  if (time === undefined) return undefined;
  // Since 2.4, which also names the module, the port follows the address.
  const [, address = client, port] = (module !== undefined && /^(.+):(\d+)$/.exec(client ?? '')) || [];
  return {
    time,
    ...(module && { module }),
    level,
    ...(pid !== undefined && { pid: Number(pid) }),
    ...(tid !== undefined && { tid: exactNumber(tid) }),
    ...(location !== undefined && { location }),
    ...(address !== undefined && { remote_addr: address }),
    ...(port !== undefined && { remote_port: Number(port) }),
    message,
  };
}
