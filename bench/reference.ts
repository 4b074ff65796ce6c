import { createHash } from 'node:crypto';
import { blocksOf, joined, linesOf } from './lines-of.ts';
import type { Peer } from './peers/peer.ts';

/** What an output must hold: digests of all masked lines, each with its end. */
export interface Reference {
  readonly input: string;
  readonly lines: number;
  readonly inOrder: string;
  readonly sorted: string;
}

/** Rules as JavaScript has them: `(?i)` at the start, which other languages know, is a flag there. */
function expressions(rules: Readonly<Record<string, string>>): Record<string, RegExp> {
  const compiled = Object.entries(rules).map(([name, source]) => {
    const body = source.replace(/^\(\?i\)/, '');
    return [name, new RegExp(body, body === source ? 'g' : 'gi')];
  });
  return Object.fromEntries(compiled);
}

/** The plain way to mask: the expression of each rule over the whole line, one rule after the other. */
export function masksInTurn(rules: Readonly<Record<string, string>>): (line: string) => string {
  const steps = Object.entries(expressions(rules)).map(([name, expression]) => ({
    expression,
    to: `<:${name}:>`,
  }));
  return (line) => {
    let masked = line;
    for (const { expression, to } of steps) masked = masked.replace(expression, to);
    return masked;
  };
}

export function referenceOf(input: string, mask: (line: string) => string): Reference {
  const lines = [...linesOf(input)].map(mask);
  return { input, lines: lines.length, inOrder: digest(joined(lines)), sorted: digest(joined(lines.sort())) };
}

/**
 * Compares what a peer has written with the reference, byte for byte: a text as it is; of events the `data.line`,
 * in order, or sorted if the peer does not keep the order.
 *
 * @throws Error if it differs, or if a line of the output is not an event of the input.
 */
export function verify(
  { name, writes, isOrdered }: Pick<Peer, 'name' | 'writes' | 'isOrdered'>,
  output: string,
  reference: Reference,
): void {
  const found = writes === 'text' ? digest(blocksOf(output, 1 << 20)) : digest(joined(maskedLines()));
  if (found !== (isOrdered ? reference.inOrder : reference.sorted)) {
    throw new Error(`${name}: the output differs from the reference`);
  }

  function maskedLines(): Iterable<string> {
    const lines = linesOfEvents(output, reference.input);
    return isOrdered ? lines : [...lines].sort();
  }
}

function* linesOfEvents(output: string, source: string): Generator<string> {
  for (const text of linesOf(output)) {
    const { timestamp, data, backfill } = JSON.parse(text);
    if (!ISO_8601.test(timestamp) || data.source !== source || backfill !== true) {
      throw new Error(`not the event of a line of ${source}: ${text}`);
    }
    yield data.line;
  }
}

const ISO_8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d)$/;

function digest(pieces: Iterable<string | Uint8Array>): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}
