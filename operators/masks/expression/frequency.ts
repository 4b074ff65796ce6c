import type { UnitSet } from './unit-set.ts';

/**
 * How often characters occur in logs, roughly, as a share of all. It only decides which of several right ways to
 * search is taken.
 */
const SHARE = new Float64Array(128).fill(0.002);
const COMMON: readonly (readonly [string, number])[] = [
  ['etaoinsr', 0.028],
  ['hldcumfpgwyb', 0.014],
  ['vkxjqz', 0.004],
  ['0123456789', 0.024],
  ['ETAOINSRHLDCUMFPGWYB', 0.004],
  ['VKXJQZ', 0.001],
  [' ', 0.08],
  ['-.:/="', 0.018],
  ['_,@', 0.005],
];
for (const [characters, share] of COMMON) {
  for (const character of characters) SHARE[character.charCodeAt(0)] = share;
}
const HIGH_SHARE = 0.001;

/** How often a character of a set occurs, in [0, 1]. */
export function shareOf(units: UnitSet): number {
  let share = units.high.length === 0 ? 0 : HIGH_SHARE;
  for (let unit = 0; unit < 128; unit++) if (units.ascii[unit] === 1) share += SHARE[unit] as number;
  return Math.min(1, share);
}

/** How often a text starts at a character of a log, if characters were independent of each other. */
export function shareOfText(text: string): number {
  let share = 1;
  for (let i = 0; i < text.length; i++) share *= SHARE[text.charCodeAt(i)] ?? HIGH_SHARE;
  return share;
}
