/** The position after an empty match; with the `u` flag it must not fall into a surrogate pair. */
export function afterEmpty(text: string, at: number, unicode: boolean): number {
  return at + (unicode && (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}
