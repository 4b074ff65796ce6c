/**
 * Chooses the seed of the run: always the same one in the short form, so that CI fails for a change and not by chance.
 * Jest's workers inherit it.
 */
export default function chooseSeed() {
  const isLong = process.env.MILLRACE_FAULTS === 'long';
  process.env.FAULTS_SEED ??= isLong ? String(Math.floor(Math.random() * 2 ** 31)) : '1';
  process.stderr.write(`FAULTS_SEED=${process.env.FAULTS_SEED} repeats the random choices of this run\n`);
}
