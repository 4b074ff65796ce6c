/** A number of things in a message: `1 event`, `3 events`, `2 entries`. `shown`: the number as it is written. */
export function counted(value: number, noun: string, shown = String(value)): string {
  return `${shown} ${value === 1 ? noun : pluralOf(noun)}`;
}

const pluralOf = (noun: string) => (/[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`);
