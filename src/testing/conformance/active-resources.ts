/** The process's own streams and one-time work are no concern of plugins. */
const IGNORED = new Set(['TTYWrap', 'PipeWrap', 'Immediate', 'TickObject', 'CloseReq']);

/** What keeps the process alive now, such as `Timeout` and `FSEvent`: once for each. */
export function activeResources(): string[] {
  return process.getActiveResourcesInfo().filter((type) => !IGNORED.has(type));
}

/** What keeps the process alive and did not before. */
export function resourcesSince(before: readonly string[]): string[] {
  const left = activeResources();
  for (const known of before) {
    const index = left.indexOf(known);
    if (index !== -1) left.splice(index, 1);
  }
  return left;
}
