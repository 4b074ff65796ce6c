import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part, PartResult } from '../parts/part.ts';
import { ROOT } from '../places.ts';
import { drawChart } from './chart.ts';
import { between, markdownReport } from './markdown.ts';

const PAGE = join(ROOT, 'docs/benchmarks.md');
const PICTURE = join(ROOT, 'docs/benchmarks.svg');

/** Writes a part's results into docs/benchmarks.md in the place of the last ones, and draws its chart. */
export function writeReport({ name }: Part, result: PartResult, machine: string): void {
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(PAGE, between(page, name, `${machine}\n\n${markdownReport(result)}`));
  if (result.chart !== undefined) writeFileSync(PICTURE, drawChart(result.chart));
}
