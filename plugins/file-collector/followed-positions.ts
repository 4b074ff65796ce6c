import { AcknowledgedPositions, type Positions } from '../../operators/node.ts';
import type { CollectorState, PipelineRunContext } from '../../src/sdk/index.ts';
import type { FileCollectConfig } from './file-config.ts';
import { reportGone } from './file-reports.ts';
import { namedBy } from './named-files.ts';

/** Where a run goes on, by the state that earlier runs have left. */
export function followedPositions(ctx: PipelineRunContext<FileCollectConfig>): AcknowledgedPositions {
  return new AcknowledgedPositions(ctx.state, {
    backfill: ctx.config.backfill,
    wasFollowed: wasFollowed(ctx.state),
    isFollowed: namedBy(ctx.config.paths),
    onGone: (files) => reportGone(files, ctx),
  });
}

/** Where the state has the paths that were followed last; the keys of positions are numbers. */
const PATHS = 'paths';

/** A file at a path that the last run had has come since; one at another path may be as old as the configuration. */
function wasFollowed(state: CollectorState): (path: string) => boolean {
  const paths = state.get(PATHS);
  if (!Array.isArray(paths)) return () => false;
  const patterns = paths.filter((path) => typeof path === 'string');
  return namedBy(patterns);
}

/** Notes the paths when all files have their positions: from then on one that has none is new. */
export function notingPaths(
  positions: AcknowledgedPositions,
  paths: readonly string[],
  state: CollectorState,
): Positions {
  return {
    startAt: (file) => positions.startAt(file),
    recognised: (id, fingerprint, start) => positions.recognised(id, fingerprint, start),
    forget: (id, end) => positions.forget(id, end),
    deleted: (id) => positions.deleted(id),
    known: () => positions.known(),
    seen: (id, size) => positions.seen(id, size),
    found: (isThere, mayBeThere) => {
      positions.found(isThere, mayBeThere);
      state.set(PATHS, [...paths]);
      // Now: a file that is renamed before the next run is found by it only if it is known.
      state.commit();
    },
  };
}
