import { describe, expect, it } from '@jest/globals';
import type { Position } from '../../../plugins/kafka/group-member.ts';
import { OffsetCommitter } from '../../../plugins/kafka/offset-committer.ts';
import { eventually } from '../../support/eventually.ts';

const at = (partition: number, offset: bigint): Position => ({ topic: 'logs', partition, offset });

describe('acknowledged offsets', () => {
  it('share a commit, with the last one of each partition', async () => {
    const commits: (readonly Position[])[] = [];
    const committer = new OffsetCommitter(
      async (positions) => void commits.push(positions),
      () => {},
    );
    for (const position of [at(0, 1n), at(1, 5n), at(0, 2n)]) committer.acknowledged(position);
    await eventually(() => commits.length > 0);
    await committer.close();
    expect(commits).toEqual([[at(0, 2n), at(1, 5n)]]);
  });

  it('are committed again after a failure, except those of partitions that were taken away', async () => {
    const commits: (readonly Position[])[] = [];
    const errors: unknown[] = [];
    const committer = new OffsetCommitter(
      async (positions) => {
        commits.push(positions);
        if (commits.length > 1) return;
        committer.keepOnly(new Set(['logs[1]']));
        throw new Error('not committed');
      },
      (error) => errors.push(error),
    );
    committer.acknowledged(at(0, 1n));
    committer.acknowledged(at(1, 5n));
    await eventually(() => commits.length > 1);
    await committer.close();
    expect(errors).toHaveLength(1);
    expect(commits.slice(1)).toEqual([[at(1, 5n)]]);
  });

  it('that come during a commit follow in the next one', async () => {
    const commits: (readonly Position[])[] = [];
    const committer = new OffsetCommitter(
      async (positions) => {
        commits.push(positions);
        if (commits.length === 1) committer.acknowledged(at(0, 2n));
      },
      () => {},
    );
    committer.acknowledged(at(0, 1n));
    await eventually(() => commits.length > 1);
    await committer.close();
    expect(commits).toEqual([[at(0, 1n)], [at(0, 2n)]]);
  });
});
