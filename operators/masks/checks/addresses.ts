/** An IPv4 address that may belong to someone: not 0.0.0.0, not a loopback address, not a netmask. */
export function isIpv4(value: string): boolean {
  const parts = value.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !(part <= 255))) return false;
  return parts[0] !== 0 && parts[0] !== 127 && parts[0] !== 255;
}

/** An IPv6 address in any spelling, except `::` and `::1`. */
export function isIpv6(value: string): boolean {
  const [address = ''] = value.split('%');
  const halves = address.split('::');
  if (halves.length > 2 || /^[0:]*1?$/.test(address)) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const endsWithIpv4 = last.includes('.');
  if (endsWithIpv4 && !/^(?:\d{1,3}\.){3}\d{1,3}$/.test(last)) return false;
  const plain = endsWithIpv4 ? groups.slice(0, -1) : groups;
  const count = plain.length + (endsWithIpv4 ? 2 : 0);
  // Two or three groups with `::` may as well be a name in C++ or a time, such as `a::b` or `10::30`.
  const isShort =
    halves.length === 2 &&
    count < 3 &&
    !/^(?:fe80|f[cd][\da-f]{2}|2[\da-f]{3}|64|ff\d\d)$/i.test(groups[0] ?? '');
  return (
    plain.every((group) => /^[\da-f]{1,4}$/i.test(group)) &&
    (halves.length === 2 ? count < 8 && !isShort : count === 8)
  );
}

/** A hardware address that belongs to one device: not all zeros or ones. */
export const isMac = (value: string) => !/^(?:0|f|[:.-])+$/i.test(value);
