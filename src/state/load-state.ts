import fs from 'node:fs';
import { join } from 'node:path';
import { MillraceError } from '../errors.ts';
import type { Logger } from '../models/index.ts';
import { JOURNAL_FORMAT, type JournalContent, readJournal, type Snapshot } from './journal.ts';

/** The files of a state folder. */
export interface StatePaths {
  readonly journal: string;
  /** All entries as of some seconds ago, or as of a clean stop; flushed to the disk. */
  readonly copy: string;
}

export function statePaths(folder: string): StatePaths {
  return { journal: join(folder, 'state.journal'), copy: join(folder, 'state.copy') };
}

const NOTHING_LEFT =
  'There is no good copy: all files are treated as new, and `backfill` decides where reading starts';

/**
 * The latest state that can be read: that of the journal or, if the journal is missing or damaged, that of the copy,
 * whichever is newer. A damaged file is renamed, and the log says so.
 *
 * @throws MillraceError if another version of millrace wrote the folder, and its state cannot be taken over
 */
export function loadState(folder: string, logger: Logger): Snapshot {
  const { journal: journalPath, copy: copyPath } = statePaths(folder);
  const journal = readJournal(journalPath);
  const copy = readJournal(copyPath);
  if (journal !== undefined) checkFormat(journalPath, journal);
  if (copy !== undefined) checkFormat(copyPath, copy);
  if (journal === undefined && copy === undefined) return firstState(folder, logger);

  const journalSequence = journal?.sequence ?? -1;
  const isCopyNewer = copy !== undefined && copy.sequence > journalSequence;
  const best = isCopyNewer ? copy : journal;
  const isLost = best === undefined || best.sequence < 0;
  const instead = isCopyNewer
    ? `Going on with the copy of ${modifiedAt(copyPath)}: lines acknowledged since then are delivered twice`
    : 'Going on with what precedes the damage: lines acknowledged since then are delivered twice';
  const outcome = isLost ? NOTHING_LEFT : instead;
  if (journal === undefined) logger.warn(`${journalPath} is missing. ${outcome}`);
  else if (journal.damage !== undefined) keepAside(journalPath, journal.damage, outcome, logger);
  else if (isCopyNewer) keepAside(journalPath, 'it is older than its copy', outcome, logger);
  if (copy?.damage !== undefined) {
    keepAside(copyPath, copy.damage, isLost ? NOTHING_LEFT : 'Going on with the journal', logger);
  }
  return isLost ? { sequence: 0, entries: [] } : best;
}

/** State folders of millrace 0.1 were an lmdb store with a copy in this format beside it, made at a clean stop. */
function firstState(folder: string, logger: Logger): Snapshot {
  const store = join(folder, 'state.mdb');
  if (!fs.existsSync(store)) return { sequence: 0, entries: [] };
  const closed = join(folder, 'state.closed');
  const content = readJournal(closed);
  if (content === undefined || content.damage !== undefined) {
    throw new MillraceError(
      'MILLRACE_STATE_FORMAT',
      `${store} was written by millrace 0.1, which was not stopped cleanly: start and stop that version once, or ` +
        'give another state folder',
    );
  }
  logger.info(`took over ${content.entries.length} entries that millrace 0.1 left in ${closed}`);
  return content;
}

function checkFormat(path: string, { format }: JournalContent): void {
  if (format <= JOURNAL_FORMAT) return;
  throw new MillraceError(
    'MILLRACE_STATE_FORMAT',
    `${path} has format ${format}, and this millrace reads formats up to ${JOURNAL_FORMAT}: a later version wrote ` +
      'it; use that version, or another state folder',
  );
}

/** Renames a damaged file, so that it can be inspected, and says what happens instead. */
function keepAside(path: string, damage: string, instead: string, logger: Logger): void {
  let number = 1;
  while (fs.existsSync(`${path}.broken-${number}`)) number++;
  const aside = `${path}.broken-${number}`;
  fs.renameSync(path, aside);
  logger.error(`${path} is broken: ${damage}. It is kept as ${aside}. ${instead}`);
}

function modifiedAt(path: string): string {
  return new Date(fs.statSync(path).mtimeMs).toISOString();
}
