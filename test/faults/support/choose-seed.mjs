/** Chooses the seed of the run. Jest's workers inherit it. */
export default function chooseSeed() {
  process.env.FAULTS_SEED ??= String(Math.floor(Math.random() * 2 ** 31));
  process.stderr.write(`FAULTS_SEED=${process.env.FAULTS_SEED} repeats the random choices of this run\n`);
}
