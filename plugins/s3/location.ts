import { Buffer } from 'node:buffer';
import type { ConfigProblem } from '../../src/sdk/index.ts';

/** Where objects are stored. */
export interface S3Location {
  readonly bucket: string;
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly path_style?: boolean | undefined;
}

/** What makes the key of an object. */
interface ObjectForm {
  readonly prefix: string;
  readonly compression: keyof typeof SUFFIXES;
}

const SUFFIXES = { gzip: '.gz', zstd: '.zst', none: '' };

/** The folders are the date and the hour with which the id of the call starts. */
export function keyOf({ prefix, compression }: ObjectForm, name: string): string {
  const [, ...date] = /^(\d{4})(\d\d)(\d\d)T(\d\d)\d{4}\.\d{3}Z-/.exec(name) ?? [];
  const folders = date.map((part) => `${part}/`).join('');
  return `${prefix}${folders}${name}.ndjson${SUFFIXES[compression]}`;
}

/** The key in a URL, encoded as signatures require it. */
export const encodedKey = (key: string) =>
  encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** URLs have no folders `.` and `..`, and a slash in front would make a folder without a name. */
export function isPrefix(text: string): boolean {
  const isControl = /\p{Cc}|\p{Cs}/u.test(text);
  return !isControl && !/^\/|(?:^|\/)\.{1,2}(?:\/|$)/.test(text) && Buffer.byteLength(text) <= 800;
}

export const regionOf = ({ region, endpoint }: S3Location): string | undefined =>
  region ?? (process.env.AWS_REGION || (endpoint === undefined ? undefined : 'us-east-1'));

export function wrongRegion(config: S3Location): readonly ConfigProblem[] {
  if (regionOf(config) !== undefined) return [];
  return [{ path: [], message: '`region` is required, such as `eu-central-1`, unless AWS_REGION is set' }];
}

/** Where a bucket is: a server, and the path in front of keys. A certificate of AWS does not hold for names with a dot. */
export function targetOf(config: S3Location): { readonly origin: string; readonly path: string } {
  const { bucket, endpoint } = config;
  const region = regionOf(config) ?? '';
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const { protocol, host, pathname } = new URL(endpoint ?? `https://s3.${region}.${domain}`);
  const path = pathname.replace(/\/*$/, '/');
  const { path_style = endpoint !== undefined || bucket.includes('.') } = config;
  return path_style
    ? { origin: `${protocol}//${host}`, path: `${path}${bucket}/` }
    : { origin: `${protocol}//${bucket}.${host}`, path };
}
