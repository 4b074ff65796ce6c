import { LONGEST_TEXT } from '../../operators/internal-masks.ts';
import type { NamedPack } from '../packs/load-packs.ts';
import { redactorOf } from './pack-examples.ts';

/** Times that a measurement is repeated: the least counts. */
const PASSES = 3;

/** Lines in texts that are masked at once, as the command does. */
export function blocksOf(lines: readonly string[]): string[] {
  const blocks: string[] = [];
  let block: string[] = [];
  let length = 0;
  for (const line of lines) {
    if (length + line.length >= LONGEST_TEXT && block.length > 0) {
      blocks.push(block.join('\n'));
      block = [];
      length = 0;
    }
    block.push(line);
    length += line.length + 1;
  }
  return block.length === 0 ? blocks : [...blocks, block.join('\n')];
}

/** Microseconds of the processor that a mask takes for blocks of lines, without the time to compile its expressions. */
export function costOfMask(mask: (block: string) => unknown, blocks: readonly string[]): number {
  const run = () => {
    const before = process.cpuUsage();
    for (const block of blocks) mask(block);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  run();
  return Math.min(...Array.from({ length: PASSES }, run));
}

/** What masking with packs takes for blocks of lines, in microseconds of the processor. */
export function costOfPacks(
  packs: readonly NamedPack[],
  blocks: readonly string[],
  confidence: 'medium' | 'low' = 'medium',
): number {
  const redactor = redactorOf(packs, confidence);
  const many = redactor.many('lines');
  return costOfMask((block) => {
    try {
      return many === undefined ? byLine(block) : many.map(block);
    } catch {
      return byLine(block);
    }
  }, blocks);

  function byLine(block: string): void {
    for (const line of block.split('\n')) redactor.maskLine('lines', line);
  }
}
