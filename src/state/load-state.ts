import { join } from 'node:path';
import { fileSystem } from '../../operators/internal-files.ts';
import type { Logger } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import { FORMAT, type JournalContent, readJournal, type Snapshot } from './journal.ts';

interface StatePaths {
  readonly journal: string;
  /** All entries as of some seconds ago, or as of a clean stop; flushed to the disk. */
  readonly copy: string;
}

export function statePaths(folder: string): StatePaths {
  return { journal: join(folder, 'state.journal'), copy: join(folder, 'state.copy') };
}

const NOTHING_LEFT =
  'There is no good copy: all files are treated as new, and `backfill` decides where reading starts';

/** The latest state of a folder that can be read. */
export interface FoundState extends Snapshot {
  /** Files that are missing or damaged, and what happens instead. */
  readonly problems: readonly Problem[];
}

interface Problem {
  readonly path: string;
  readonly damage: string | undefined;
  readonly outcome: string;
}

/**
 * {@link findState} for a run: damaged files are renamed, so that they can be inspected, and the log says what happens
 * instead.
 */
export function loadState(folder: string, logger: Logger): FoundState {
  const found = findState(folder);
  for (const { path, damage, outcome } of found.problems) {
    if (damage === undefined) logger.warn(`${path} is missing. ${outcome}`);
    else logger.error(`${path} is broken: ${damage}. It is kept as ${keepAside(path)}. ${outcome}`);
  }
  return found;
}

/**
 * The state of the journal or, if that is missing or damaged, of its copy, whichever is newer. Changes nothing.
 *
 * @throws MillraceError if a later version of millrace wrote the folder
 */
export function findState(folder: string): FoundState {
  const { journal: journalPath, copy: copyPath } = statePaths(folder);
  const journal = readJournal(journalPath);
  const copy = readJournal(copyPath);
  if (journal !== undefined) checkFormat(journalPath, journal);
  if (copy !== undefined) checkFormat(copyPath, copy);
  if (journal === undefined && copy === undefined) return { ...EMPTY, problems: [] };

  const isCopyNewer = copy !== undefined && copy.sequence > (journal?.sequence ?? -1);
  const best = isCopyNewer ? copy : journal;
  const isLost = best === undefined || best.sequence < 0;
  const instead = isCopyNewer
    ? `Going on with the copy of ${modifiedAt(copyPath)}: lines acknowledged since then are delivered twice`
    : 'Going on with what precedes the damage: lines acknowledged since then are delivered twice';
  const problems: Problem[] = [];
  const damage =
    journal?.damage ?? (isCopyNewer && journal !== undefined ? 'it is older than its copy' : undefined);
  if (journal === undefined || damage !== undefined) {
    problems.push({ path: journalPath, damage, outcome: isLost ? NOTHING_LEFT : instead });
  }
  if (copy?.damage !== undefined) {
    const outcome = isLost ? NOTHING_LEFT : 'Going on with the journal';
    problems.push({ path: copyPath, damage: copy.damage, outcome });
  }
  const { sequence, entries } = isLost ? EMPTY : best;
  return { sequence, entries, problems };
}

const EMPTY: Snapshot = { sequence: 0, entries: [] };

function checkFormat(path: string, { format }: JournalContent): void {
  if (format <= FORMAT) return;
  throw new MillraceError(
    'MILLRACE_STATE_FORMAT',
    `${path} has format ${format}, and this millrace reads formats up to ${FORMAT}: a later version wrote ` +
      'it; use that version, or another state folder',
  );
}

/** Returns the new name of a file that is renamed. */
function keepAside(path: string): string {
  let number = 1;
  while (fileSystem.existsSync(`${path}.broken-${number}`)) number++;
  const aside = `${path}.broken-${number}`;
  fileSystem.renameSync(path, aside);
  return aside;
}

function modifiedAt(path: string): string {
  return new Date(fileSystem.statSync(path).mtimeMs).toISOString();
}
