/** What is numbered in four parts as addresses are: versions, and sections of documents. */
const NUMBERED =
  /(?:version|(?:\b|_)(?:ver|v|rev|revision|release|build|firmware|fw|bios|sdk|rv|oid|sections?|sec|chapter|clause|appendix|annex|fig(?:ure)?)|§)s?(?:\s(?:is|was|of))?["'\\.]{0,8}[\s:=>([{]{0,4}["'\\]{0,8}[v=~^<>]{0,2}\s?$/i;
/** What changes versions: `upgraded the index from 1.2.3.4 to 1.2.3.5`. */
const UPGRADE = /\b(?:upgrad|downgrad|bump)\w{0,4}\b[^\n]{0,80}\b(?:from|to)\s$/i;
/** Other numbers of a list or a range, before a number: `versions 1.2.3.4, 1.2.3.5`, `from version 1.2.3.4 to 1.2.3.5`. */
const NUMBERS_BEFORE = /(?:\d+(?:\.\d+){1,4}["']?\s?(?:,|;|\||to|and|or|->|=>|→|-|–|\.\.\.?)\s?["']?){1,4}$/;
/** A package and the operator in front of its version, or the verb and the package: `rails==4.2.7.1`, `Using rails 4.2.7.1`. */
const PACKAGE =
  /[A-Za-z0-9\]](?<!ip|addr|address|host|src|dst|from|to)(?:==|~=|>=|<=|!=)["']?$|(?:~>|\^|~=) ?["']?$|\b(?:Using|Installing|Installed|Fetching|Downloading|Upgrading|Updating|Unpacking|Setting up)\s{1,3}[\w.@/+-]{1,60}(?:\s{1,3}|:)\(?$|^\s{2,8}[a-z][\w.-]{0,60} \((?:[~><=]{1,2} )?$|\s(?:-v|--ver)\s["']?$/;
/** A product in a list of them, such as a user agent. `host/10.1.2.3:9092` is how Java writes an address. */
const PRODUCT = /(?:^|[\s"'(;,:=])[A-Za-z][\w.+ -]{0,40}\/$/;
const OTHER_PRODUCT_BEFORE =
  /(?:^|[\s"'(;=])[A-Za-z][\w.+-]{0,40}\/\d{1,5}(?:\.\d{1,6})*(?:\s|\s[^/]{0,120}[\s;)])[A-Za-z][\w.+-]{0,40}\/$/;
const OTHER_PRODUCT_AFTER = /^ (?:\([^)]{0,120}\)? ?)?[A-Za-z][\w.+-]{0,40}\/\d/;
const BROWSER =
  /(?:Chrom(?:e|ium)|CriOS|Safari|Firefox|FxiOS|Edge?|EdgA|EdgiOS|OPR|Opera|Vivaldi|Electron|YaBrowser|UCBrowser|SamsungBrowser|Trident|AppleWebKit|Gecko|FBAV|GSA|Version|okhttp|curl|[Ww]get|python-requests|Dalvik|Teams|Slack|Zoom|Outlook|Office)\/$/;
/** A folder of packages in a path, and the names up to the version. */
const PATH_OF_PACKAGE =
  /(?:packages?|node_modules|maven2|repository|gems|cellar|jars?|artifacts?|releases?|download|tags?|versions?|archive|dist)\/(?:[\w.@+-]{1,60}\/){0,6}$/i;
/** What follows a version only. */
const VERSION_END =
  /^(?:-(?:snapshot|release|ga|final|alpha|beta|rc|dev|pre|post|preview|nightly|canary|stable|hotfix|r\d)\b|\+[a-z0-9]|\.(?:jar|war|zip|t?gz|tar|whl|dll|exe|deb|rpm|nupkg|dmg|msi|pkg|apk|gem|so|tgz|vsix)\b)/i;

/** Whether a number in four parts is that of a version or of a section, by what stands around it. */
function isVersion(text: string, start: number, end: number): boolean {
  const after = text.slice(end, end + 160);
  if (VERSION_END.test(after)) return true;
  // A port follows addresses only.
  if (/^:\d/.test(after)) return false;
  const before = text.slice(Math.max(0, start - 200), start).replace(NUMBERS_BEFORE, '');
  if (NUMBERED.test(before)) return !/dhcp|\blease|\baddress/i.test(before.slice(-60));
  if (PACKAGE.test(before) || UPGRADE.test(before)) return true;
  if (!before.endsWith('/')) return false;
  if (BROWSER.test(before) || PATH_OF_PACKAGE.test(before)) return true;
  return PRODUCT.test(before) && (OTHER_PRODUCT_BEFORE.test(before) || OTHER_PRODUCT_AFTER.test(after));
}

/** An IPv4 address that may belong to someone: not 0.0.0.0, not a loopback address, not a netmask, and no version. */
export function isIpv4(value: string, text = value, start = 0): boolean {
  const parts = value.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !(part <= 255))) return false;
  if (parts[0] === 0 || parts[0] === 127 || parts[0] === 255) return false;
  return !isVersion(text, start, start + value.length);
}

/** The first group of addresses that are in use: global, private, link-local, multicast, and those for translation. */
const FIRST_GROUP = /^(?:[23][\da-f]{3}|fe[89ab][\da-f]|f[cd][\da-f]{2}|ff[\da-f]{2}|64|100)$/i;
/** A year with a time after it, as Erlang writes it: `10-Jul-2019::20:50:45`. No address in use starts with 2004 to 2099. */
const YEAR_AND_TIME = /^(?:19\d\d|20(?:0[4-9]|[1-9]\d))::[0-2]?\d:[0-5]\d(?::[0-5]\d)?$/;
const DATE_BEFORE = /\d[-/. ](?:[A-Za-z]{3,9}|\d{1,2})[-/. ]$/;

/** An IPv6 address in any spelling, except `::` and `::1`. */
export function isIpv6(value: string, text = value, start = 0): boolean {
  const [address = ''] = value.split('%');
  const halves = address.split('::');
  if (halves.length > 2 || /^[0:]*1?$/.test(address)) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const endsWithIpv4 = last.includes('.');
  if (endsWithIpv4 && !/^(?:\d{1,3}\.){3}\d{1,3}$/.test(last)) return false;
  const plain = endsWithIpv4 ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => /^[\da-f]{1,4}$/i.test(group))) return false;
  const count = plain.length + (endsWithIpv4 ? 2 : 0);
  if (halves.length === 1) return count === 8 && (FIRST_GROUP.test(plain[0] ?? '') || !plain.every(isPair));
  if (
    count >= 8 ||
    YEAR_AND_TIME.test(address) ||
    DATE_BEFORE.test(text.slice(Math.max(0, start - 16), start))
  )
    return false;
  // Groups with `::` may as well be a name in C++, a ratio or a time, such as `a::b`, `16:9::4:3` or `12:34:56::789`.
  if (halves[0] !== '') return FIRST_GROUP.test(plain[0] ?? '');
  return count >= 3 && (endsWithIpv4 || !plain.every(isPair));
}

/** Two digits or fewer, as bytes and parts of times have them. */
const isPair = (group: string) => group.length <= 2;

/** A hardware address that belongs to one device: not all zeros or ones. */
export const isMac = (value: string) => !/^(?:0|f|[:.-])+$/i.test(value);
