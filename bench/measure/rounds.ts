/**
 * Measures each of `subjects` `count` times in alternating rounds, A B C, A B C, so that what changes on the machine
 * in the meantime meets all of them.
 *
 * @returns for each subject its measurements, in the order of the rounds.
 */
export async function rounds<S, M>(
  subjects: readonly S[],
  count: number,
  measure: (subject: S, round: number) => Promise<M>,
): Promise<Map<S, readonly M[]>> {
  const measured = new Map<S, M[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < count; round++) {
    for (const subject of subjects) measured.get(subject)?.push(await measure(subject, round));
  }
  return measured;
}
