/**
 * How often a property is tried. `npm run test:long` tries it five times as often as `npm test`, and MILLRACE_RUNS=50 fifty
 * times.
 */
export const propertyRuns = (runs: number): number => runs * Number(process.env.MILLRACE_RUNS ?? 1);
