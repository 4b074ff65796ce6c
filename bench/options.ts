import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Fewer lines and rounds: all parts in less than two minutes. */
  readonly quick: boolean;
  /** The parts to run, in the order of the list that they are chosen from. */
  readonly only: readonly string[];
  /** Writes the results to docs/benchmarks.md and draws the chart. */
  readonly write: boolean;
  /** A target that is missed makes the exit code 1. */
  readonly check: boolean;
  /** The folder of another checkout, with which this one is compared instead. */
  readonly against?: string;
  readonly help: boolean;
}

/** @throws Error for an argument that is not known, with what is. */
export function parseOptions(args: readonly string[], parts: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      write: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      against: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const wanted = values.only.flatMap((names) => names.split(','));
  const unknown = wanted.filter((name) => !parts.includes(name));
  if (unknown.length > 0) {
    throw new Error(`no part is named ${unknown.join(', ')}; there are ${parts.join(', ')}`);
  }
  return { ...values, only: wanted.length === 0 ? parts : parts.filter((name) => wanted.includes(name)) };
}

export function helpText(
  parts: readonly { readonly name: string; readonly title: string }[],
  against: readonly string[],
): string {
  const width = Math.max(...parts.map(({ name }) => name.length));
  return `Usage: npm run bench -- [options]

Measures millrace and its peers on this machine, side by side, and says which targets are met.

Options:
  --quick        fewer lines and rounds: under two minutes
  --only <part>  run only this part; may be given several times, or a list with commas
  --write        write the results to docs/benchmarks.md, and draw docs/benchmarks.svg
  --check        exit with 1 if a target is missed
  --against <folder>
                 compare the processor time of this build with that of another checkout, which is built, in pairs:
                 ${against.join(', ')}
  -h, --help     print this help

Parts:
${parts.map(({ name, title }) => `  ${name.padEnd(width)}  ${title}`).join('\n')}

Peers that are not installed are left out and named; bench/install-peers.sh installs what it can.
`;
}
