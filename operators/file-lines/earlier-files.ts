import { concatMap, Observable } from 'rxjs';
import type { KnownFile, Positions } from './follow-settings.ts';
import { findMoved } from './moved-files.ts';
import { closeFile, type OpenFile, openFile } from './regular-file.ts';

/** A file of an earlier run that was renamed since, open. */
export interface EarlierFile {
  /** As it was known, with the path that it had. */
  readonly known: KnownFile;
  readonly path: string;
  readonly opened: OpenFile;
}

/** The files of earlier runs that were renamed since in their folders: most by rotation. */
export function earlierFiles(positions: Positions): Observable<EarlierFile> {
  return findMoved(positions.known?.() ?? []).pipe(
    concatMap(
      ({ file, path }) =>
        new Observable<EarlierFile>((subscriber) => {
          openFile(path, { isLinked: false }, (_, opened) => {
            // Any file of the folder may have got an inode that was given up.
            const isSame = opened?.id === file.id && file.isSame(opened.head);
            if (opened === undefined || !isSame || subscriber.closed) {
              if (opened !== undefined) closeFile(opened.fd);
            } else {
              subscriber.next({ known: file, path, opened });
            }
            subscriber.complete();
          });
        }),
    ),
  );
}
