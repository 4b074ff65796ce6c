import { createHash } from 'node:crypto';
import { version } from '../../src/version.ts';
import type { MakeCommand } from '../jobs.ts';
import { linesOf } from '../lines-of.ts';
import type { Command } from '../measure/run-command.ts';
import type { Found } from './peer.ts';

/** A program that can do a structured job. */
export interface StructuredPeer {
  readonly name: string;
  /** Whether it runs on when all is done, as a daemon does, and has to be stopped. */
  readonly isDaemon: boolean;
  /** How it does the job, if that is not evident. */
  readonly note?: string;
  find(): Found | Promise<Found>;
  command(input: string, output: string, folder: string): Command;
  /**
   * The fields of an event that it has written, by the names that millrace gives them. Default: `data`.
   */
  readonly fieldsOf?: (data: Fields) => Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

/** `command` of a job of millrace as a peer. */
export function millracePeer(command: MakeCommand): StructuredPeer {
  return {
    name: 'millrace',
    isDaemon: false,
    find: () => ({ version: version() }),
    command: (input, _, folder) => command(input, folder),
  };
}

/** What an output holds: how many events, and a digest of their fields. */
export interface Content {
  readonly events: number;
  readonly digest: string;
}

/** The content of an output, in its order. The order of keys, timestamps and the source of an event do not count. */
export function contentOf(
  output: string,
  { fieldsOf = (data) => data }: Pick<StructuredPeer, 'fieldsOf'>,
): Content {
  const hash = createHash('sha256');
  let events = 0;
  for (const line of linesOf(output)) {
    const { source: _, time: __, ...fields } = fieldsOf(JSON.parse(line).data);
    hash.update(JSON.stringify(fields, sortedKeys)).update('\n');
    events++;
  }
  return { events, digest: hash.digest('hex') };
}

function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
