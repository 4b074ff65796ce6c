import type { Command } from '../measure/run-command.ts';

/** One run of the main job: `input` to `output`, with a folder for configuration and state. */
export interface Job {
  readonly input: string;
  readonly output: string;
  readonly folder: string;
  readonly rules: Readonly<Record<string, string>>;
}

/** A program that can do the main job, or a part of it. */
export interface Peer {
  readonly name: string;
  /** What it writes: the masked text alone, or an event for each line. */
  readonly writes: 'text' | 'events';
  /** Whether it keeps the order of the lines. */
  readonly isOrdered: boolean;
  /** Whether it runs on when all is done, as a daemon does, and has to be stopped. */
  readonly isDaemon: boolean;
  /** What of millrace's job it does not do, in a few words. */
  readonly leavesOut: string;
  /** Its version; or, if it cannot be measured here, why. */
  find(): Found | Promise<Found>;
  /** Prepares `job.folder` and says what to run. */
  command(job: Job): Command;
}

export type Found = { readonly version: string } | { readonly missing: string };

/** A text in single quotes for a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** What a match of the rule `name` becomes, in millrace and everywhere. */
export function replacement(name: string): string {
  return `<:${name}:>`;
}
