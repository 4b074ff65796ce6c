/** The suite has two forms: the short one for CI, and the long one of `npm run test:faults`. */
const isLong = process.env.MILLRACE_FAULTS === 'long';

/**
 * The setting of the form that runs, such as a number of rounds.
 *
 * @example
 * const KILLS = byForm({ short: 12, long: 100 });
 */
export function byForm<T>({ short, long }: { readonly short: T; readonly long: T }): T {
  return isLong ? long : short;
}

/** The seed of all random choices in a test; see choose-seed.mjs. */
export const SEED = Number(process.env.FAULTS_SEED);
