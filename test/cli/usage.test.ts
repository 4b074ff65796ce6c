import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { runCli, runCommand } from '../support/cli.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

describe('millrace', () => {
  it.each([[['--version']], [['-V']], [['run', '--version']]])('%j prints the version', async (args) => {
    expect(await runCli(args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    [['--help'], 'Usage: millrace [options] [command]'],
    [['help'], 'Usage: millrace [options] [command]'],
    [['run', '--help'], 'Usage: millrace run [options] FILE...'],
    [['help', 'validate'], 'Usage: millrace validate FILE...'],
    [['help', 'state', 'forget'], 'Usage: millrace state forget [options] PATH|KEY'],
    [['help', 'help'], 'Usage: millrace help [COMMAND]'],
    [['plugins', '-h'], 'Usage: millrace plugins [options] [KIND [NAME]]'],
    [['schema', '--help'], 'Usage: millrace schema'],
  ])('%j prints help with examples', async (args, usage) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(usage);
    expect(stdout).toMatch(/^Examples:\n {2}millrace /m);
    expect(stdout).toContain('--log-level');
  });

  it('without a command prints its help to standard error and refuses', async () => {
    const { code, stdout, stderr } = await runCommand([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: millrace');
  });

  it.each([
    [['rum'], "unknown command 'rum'\n(Did you mean run?)\nTry: millrace --help"],
    [['help', 'tset'], "unknown command 'tset'\n(Did you mean test?)\nTry: millrace --help"],
    [['help', 'xyzzy'], "unknown command 'xyzzy'\nTry: millrace --help"],
    [['help', 'state', 'forgte'], "unknown command 'forgte'\n(Did you mean forget?)"],
    [
      ['state', 'foget', 'a.log'],
      "unknown command 'foget'\n(Did you mean forget?)\nTry: millrace state --help",
    ],
    [['state', 'a.log'], "unknown command 'a.log'\nTry: millrace state --help"],
    [['run', '--onse'], "unknown option '--onse'\n(Did you mean --once?)\nTry: millrace run --help"],
    [['run'], 'run needs at least one configuration file, such as: millrace run pipelines.yaml'],
    [['validate'], 'validate needs at least one configuration file'],
    [['run', 'x.yaml', '--pipeline'], "option '--pipeline <name>' argument missing"],
    [['run', 'x.yaml', '--give-up-after', '9'], '--give-up-after needs --once'],
    [['run', 'x.yaml', '--drain-timeout', '-1'], 'It must be a number of seconds, 0 or more.'],
    [['run', 'x.yaml', '--drain-timeout', 'soon'], 'It must be a number of seconds, 0 or more.'],
    [
      ['run', 'x.yaml', '--state-dir', '--once'],
      'Name a folder before it; a folder of that name is ./--once.',
    ],
    [['state', '--state-dir', '-x'], 'Name a folder before it; a folder of that name is ./-x.'],
    [['run', 'x.yaml', '--log-level', 'loud'], 'Allowed choices are error, warn, info, debug.'],
    [['run', 'x.yaml', '--log-format', 'xml'], 'Allowed choices are pretty, json.'],
    [['schema', 'extra'], "too many arguments for 'schema'"],
  ])('%j is refused with exit code 2, and told how to go on', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^millrace: /);
    expect(stderr).toContain('--help');
  });
});
