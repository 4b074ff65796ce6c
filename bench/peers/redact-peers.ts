import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../measure/run-command.ts';
import { installed } from './installed.ts';
import { type Found, quoted } from './peer.ts';
import { gitleaks } from './scanners.ts';
import { findVector, vectorProgram } from './vector.ts';

/** A program beside `millrace redact`. */
interface RedactPeer {
  readonly name: string;
  readonly isComplete: boolean;
  readonly writesLines: boolean;
  readonly isSlow?: boolean;
  find(): Found;
  command(input: string, folder: string): Command;
}

/** Three expressions, in the syntax of Rust's regex crate: what someone in a hurry would look for. */
export const THREE_SECRETS: readonly string[] = [
  String.raw`(?i)(password|passwd|secret|api_?key)["']?\s*[=:]\s*["']?[^\s"'&,;]+`,
  String.raw`(?i)[?&](access_token|token|sig|key)=[^&\s"]+`,
  String.raw`\b(AKIA[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{36}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})`,
];

const OPTIONS = '--no-config --no-unicode --no-line-number --no-filename --color=never --passthru';

const ripgrep: RedactPeer = {
  name: 'ripgrep, three expressions',
  isComplete: false,
  writesLines: true,
  find: () => installed('rg', ['--version'], /^ripgrep (\S+)/),
  command: (input) => {
    const expressions = THREE_SECRETS.map((expression) => `-e ${quoted(expression)}`).join(' ');
    return {
      command: 'sh',
      args: ['-c', `rg ${OPTIONS} -r ${quoted('<:secret:>')} ${expressions} ${quoted(input)}`],
    };
  },
};

/** From standard input to standard output: it ends with its input. */
const vectorRedact: RedactPeer = {
  name: "Vector's `redact`, three expressions",
  isComplete: false,
  writesLines: true,
  find: findVector,
  command: (input, folder) => {
    const own = (name: string) => join(folder, name);
    mkdirSync(own('vector'));
    const filters = THREE_SECRETS.map((expression) => `r'${expression.replaceAll("'", String.raw`\x27`)}'`);
    writeFileSync(
      own('remap.vrl'),
      `.message = redact(string!(.message), filters: [${filters.join(', ')}])\n`,
    );
    const config = {
      data_dir: own('vector'),
      sources: { log: { type: 'stdin' } },
      transforms: { mask: { type: 'remap', inputs: ['log'], file: own('remap.vrl') } },
      sinks: { out: { type: 'console', inputs: ['mask'], encoding: { codec: 'text' } } },
    };
    writeFileSync(own('vector.json'), JSON.stringify(config));
    const line = [vectorProgram(), '--quiet', '--config', own('vector.json')].map(quoted).join(' ');
    return { command: 'sh', args: ['-c', `${line} < ${quoted(input)}`] };
  },
};

export const redactPeers: readonly RedactPeer[] = [
  ripgrep,
  vectorRedact,
  { ...gitleaks, isComplete: false, writesLines: false, isSlow: true },
];
