import { BlockList, isIP } from 'node:net';
import type { ConfigProblem, Secret } from '../../src/sdk/index.ts';

/** The proxy of a configuration. */
export interface HttpProxy {
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: Secret | undefined;
}

/** A proxy that the requests to a server go through. */
export interface ProxyRoute {
  /** Its address without credentials. */
  readonly origin: string;
  /** Where it is set, for messages: `proxy` or a variable of the environment. */
  readonly setting: string;
  /** The value of `Proxy-Authorization`. A password is read for each connection, so that a rotated one is used. */
  authorization(): string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy for the requests to a URL: that of the configuration, or the one that the environment names. */
export function proxyRoute(
  url: string,
  proxy: HttpProxy | undefined,
  env: Environment = process.env,
): ProxyRoute | undefined {
  if (proxy === undefined) return environmentRoute(new URL(url), env);
  const { username = '', password } = proxy;
  const authorization = () => password && basicAuthorization(username, password.read());
  return { origin: new URL(proxy.url).origin, setting: 'proxy', authorization };
}

/** What is wrong with the proxy that the environment names for a URL. The value may have a password, so it is not shown. */
export function environmentProxyProblems(url: string, env: Environment = process.env): ConfigProblem[] {
  const target = new URL(url);
  const [variable, value] = variableFor(target, env) ?? [];
  if (value === undefined || isDirect(target, env) || proxyUrl(value) !== undefined) return [];
  const message = `the environment variable \`${variable}\` names no proxy for HTTP: it needs a URL such as http://proxy.example.com:3128; correct it, set \`proxy\`, or add the server to \`NO_PROXY\``;
  return [{ path: ['url'], message }];
}

export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function environmentRoute(target: URL, env: Environment): ProxyRoute | undefined {
  const [variable, value] = variableFor(target, env) ?? [];
  if (variable === undefined || value === undefined || isDirect(target, env)) return undefined;
  const url = proxyUrl(value);
  // A configuration with such a variable is refused.
  if (url === undefined) return undefined;
  const { origin, username, password } = url;
  const hasCredentials = username !== '' || password !== '';
  const authorization = hasCredentials
    ? basicAuthorization(decodeURIComponent(username), decodeURIComponent(password))
    : undefined;
  return { origin, setting: variable, authorization: () => authorization };
}

/** The first variable that has a value: lower case takes precedence. */
function variableFor(
  { protocol }: URL,
  env: Environment,
): readonly [name: string, value: string] | undefined {
  const scheme = protocol.slice(0, -1);
  for (const lower of [`${scheme}_proxy`, 'all_proxy']) {
    for (const name of [lower, lower.toUpperCase()]) {
      const value = env[name]?.trim();
      if (value !== undefined && value !== '') return [name, value];
    }
  }
  return undefined;
}

/** Without a scheme, it is `http`. */
function proxyUrl(value: string): URL | undefined {
  const text = value.includes('://') ? value : `http://${value}`;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  try {
    decodeURIComponent(url.username + url.password);
    return url;
  } catch {
    return undefined;
  }
}

/** Whether `NO_PROXY` has the server. */
function isDirect({ protocol, hostname, port }: URL, env: Environment): boolean {
  const entries = (env.no_proxy || env.NO_PROXY || '').split(/[\s,]+/);
  const host = hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
  const portOrDefault = port || (protocol === 'https:' ? '443' : '80');
  return entries.some((entry) => {
    const { name, port: own = portOrDefault } = /^(?<name>\[.*\]|[^:]*)(?::(?<port>\d+))?$/.exec(entry)
      ?.groups ?? {
      name: entry,
    };
    return own === portOrDefault && isCovered(host, (name ?? '').replace(/^\[|\]$/g, '').toLowerCase());
  });
}

/** Whether an entry is the host, a domain that it is in, or a range of addresses that it is in. */
function isCovered(host: string, entry: string): boolean {
  if (entry === '*') return true;
  const family = familyOf(host);
  if (family === undefined) {
    const domain = entry.replace(/^\*?\.|\.$/g, '');
    return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
  }
  const { address = '', bits } = /^(?<address>[^/]+)(?:\/(?<bits>\d{1,3}))?$/.exec(entry)?.groups ?? {};
  const own = familyOf(address);
  if (own === undefined) return false;
  const most = own === 'ipv4' ? 32 : 128;
  const prefix = Number(bits ?? most);
  if (prefix > most) return false;
  const range = new BlockList();
  range.addSubnet(address, prefix, own);
  return range.check(host, family);
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6';
}
