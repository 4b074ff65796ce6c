/** A fenced block of a Markdown page. */
export interface Block {
  /** The first word after the fence, such as `yaml`; empty if there is none. */
  readonly language: string;
  /** The other words: `file=a.yaml` has the value `a.yaml`, a word alone the value ``. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly text: string;
  /** The line of its first fence, 1-based. */
  readonly line: number;
  /** The text block that follows with nothing but empty lines between: what this block prints. */
  readonly output: string | undefined;
}

const FENCE = /^( *)(`{3,}|~{3,})\s*(.*)$/;

/** The fenced blocks of a page, in order. */
export function blocksOf(markdown: string): Block[] {
  const lines = markdown.split('\n');
  const blocks: (Block & { end: number })[] = [];
  for (let start = 0; start < lines.length; start++) {
    const open = FENCE.exec(lines[start] as string);
    if (open === null) continue;
    const [, indent = '', fence = '', info = ''] = open;
    let end = start + 1;
    while (end < lines.length && (lines[end] as string).trim() !== fence) end++;
    if (end === lines.length) throw new Error(`line ${start + 1}: a block that does not end`);
    const [language = '', ...words] = info.trim().split(/\s+/);
    blocks.push({
      language,
      attributes: new Map(words.map(attribute)),
      text: lines
        .slice(start + 1, end)
        .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
        .join('\n'),
      line: start + 1,
      output: undefined,
      end,
    });
    start = end;
  }
  return blocks.map(({ end, ...block }, i) => {
    const next = blocks[i + 1];
    const isOutput =
      next?.language === 'text' &&
      next.attributes.size === 0 &&
      lines.slice(end + 1, next.line - 1).every((line) => line.trim() === '');
    return isOutput ? { ...block, output: next.text } : block;
  });
}

function attribute(word: string): [string, string] {
  const equals = word.indexOf('=');
  return equals === -1 ? [word, ''] : [word.slice(0, equals), word.slice(equals + 1)];
}
