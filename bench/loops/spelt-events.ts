/** The events of masked lines, with an envelope that is spelt once and not serialised for each line. */
export function speltEvents(masked: string, source: string): string {
  const head = `{"timestamp":"${new Date().toISOString()}","data":{"line":`;
  const tail = `,"source":${JSON.stringify(source)}},"backfill":true}\n`;
  let events = '';
  for (let start = 0; start < masked.length; ) {
    const end = masked.indexOf('\n', start);
    events += head + JSON.stringify(masked.slice(start, end)) + tail;
    start = end + 1;
  }
  return events;
}
