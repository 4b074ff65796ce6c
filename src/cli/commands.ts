import { type Command, Option } from 'commander';
import type { ListenAddress } from '../sdk/listen-address.ts';
import { addCommand, requireFiles, unknownCommand } from './command-help.ts';
import { ExitCode, UsageError } from './errors.ts';
import type { LogFormat, LogLevel } from './logger.ts';
import { address, duration, folder, list, mebibytes, seconds, seed, wholeNumber } from './option-values.ts';

// The commands as the user sees them. Each loads its code only when it is called.

/** Options of every command. */
export interface GlobalOptions {
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** Takes the exit code of a command that has ended. */
export type Ended = (exitCode: number) => void;

/** The options of commands that keep checkpoints, or show them. */
export interface StateOptions {
  readonly stateDir?: string;
  /** False for `--no-state`. */
  readonly state?: boolean;
}

const STATE_DIR_DEFAULT = '(default: $XDG_STATE_HOME/millrace, or ~/.local/state/millrace)';

export interface RunOptions extends GlobalOptions, StateOptions {
  readonly once?: boolean;
  readonly pipeline?: readonly string[];
  /** Seconds. */
  readonly drainTimeout: number;
  /** Seconds. */
  readonly giveUpAfter: number;
  readonly watch?: boolean;
  /** Where to serve metrics and health. */
  readonly admin?: ListenAddress;
  /** MiB. */
  readonly readMemory: number;
}

export function addRun(program: Command, ended: Ended): void {
  const command = addCommand(program, 'run [file...]', {
    usage: '[options] FILE...',
    summary: 'run the pipelines of configuration files',
    description:
      'Runs every enabled pipeline until it ends, or until SIGTERM or SIGINT (Ctrl-C). On the first signal, events ' +
      'in flight are drained; a second one exits at once. SIGHUP reloads the configuration and reopens output ' +
      'files. Offsets of files are kept in a state folder, and the next run resumes there. The exit code is 0, or ' +
      '1 if a pipeline failed, or 2 if the configuration or the command line is wrong.',
    takesFiles: true,
    examples: [
      'millrace run pipelines.yaml',
      'millrace run base.yaml site.yaml --pipeline web --once',
      'millrace run pipelines.yaml --watch --state-dir /var/lib/millrace',
      'millrace run pipelines.yaml --log-format json 2>run.log',
    ],
  })
    .option('--once', 'process what is there now, then exit')
    .option('--pipeline <name>', 'run only this pipeline; may be repeated', list)
    .option('--drain-timeout <seconds>', 'how long events in flight may take to drain', seconds, 10)
    .option(
      '--give-up-after <seconds>',
      'with --once: how long a forwarder may fail before its pipeline fails',
      seconds,
      300,
    )
    .option('--read-memory <mib>', 'memory for reading files, for all pipelines together', mebibytes, 64)
    .option('--watch', 'reload the configuration when a FILE changes')
    .option('--admin <[host:]port>', 'serve metrics and health there; without a host, on 127.0.0.1', address);
  withState(command).action(async (files: string[]) => {
    requireFiles('run', files);
    const { once = false } = command.opts<RunOptions>();
    if (!once && command.getOptionValueSource('giveUpAfter') === 'cli') {
      throw new UsageError(
        '--give-up-after needs --once: otherwise a forwarder is retried forever.\nTry: millrace run --help',
      );
    }
    const { run } = await import('./run.ts');
    ended(await run(files, command.optsWithGlobals<RunOptions>()));
  });
}

function withState(command: Command): Command {
  return command
    .option('--state-dir <folder>', `where to keep offsets of files ${STATE_DIR_DEFAULT}`, folder)
    .addOption(
      new Option('--no-state', 'keep no state: every run starts like the first one').conflicts('stateDir'),
    );
}

export function addValidate(program: Command, ended: Ended): void {
  addCommand(program, 'validate [file...]', {
    usage: 'FILE...',
    summary: 'check configuration files',
    description: 'Checks configuration files and reports every error with its line. Starts nothing.',
    takesFiles: true,
    examples: ['millrace validate pipelines.yaml', 'millrace validate base.yaml site.yaml'],
  }).action(async (files: string[], _options: unknown, command: Command) => {
    requireFiles('validate', files);
    const { validate } = await import('./validate.ts');
    ended(await validate(files, command.optsWithGlobals<GlobalOptions>()));
  });
}

const GRAPH_FORMATS = ['text', 'mermaid', 'dot', 'svg'] as const;

export interface GraphOptions {
  readonly format: (typeof GRAPH_FORMATS)[number];
  readonly coverage?: boolean;
}

export function addGraph(program: Command, ended: Ended): void {
  addCommand(program, 'graph [file...]', {
    usage: '[options] FILE...',
    summary: 'draw the pipelines of configuration files',
    description:
      'Draws the pipelines of configuration files, from collectors to forwarders, with their main settings. ' +
      'Starts nothing. Values of environment variables, expressions and arguments are never shown.',
    takesFiles: true,
    examples: [
      'millrace graph pipelines.yaml',
      'millrace graph pipelines.yaml --format svg > pipelines.svg',
      'millrace graph pipelines.yaml --format mermaid >> README.md',
    ],
  })
    .addOption(
      new Option('--format <format>', 'for the terminal, for Markdown, for Graphviz, or as a picture')
        .choices(GRAPH_FORMATS)
        .default('text'),
    )
    .option('--coverage', 'run the tests, and mark what none of them reaches')
    .action(async (files: string[], options: GraphOptions) => {
      requireFiles('graph', files);
      const { graph } = await import('./graph.ts');
      ended(await graph(files, options));
    });
}

export interface TestOptions extends GlobalOptions {
  /** The folder for pictures. */
  readonly svg?: string;
  readonly text?: boolean;
  readonly junit?: string;
  readonly filter?: string;
  readonly watch?: boolean;
  readonly mutate?: boolean;
  readonly update?: boolean;
  /** How many orders are tried. */
  readonly explore?: number;
  readonly exploreSeed?: number;
  /** A time with its unit. */
  readonly jitter?: string;
  /** Of generated events, in place of those of the tests. */
  readonly seed?: number;
  readonly runs?: number;
  readonly coverage?: boolean;
  /** Seconds of real time for each run. */
  readonly timeout: number;
  /** Seconds. */
  readonly timeLimit: number;
  readonly reporter: (typeof REPORTERS)[number];
}

const REPORTERS = ['text', 'github', 'json'] as const;

export function addTest(program: Command, ended: Ended): void {
  addCommand(program, 'test [file...]', {
    usage: '[options] FILE...',
    summary: 'run the tests of configuration files, in virtual time',
    description:
      'Runs the tests of each FILE: those in its section `tests`, and those in a `*.test.yaml` beside it. ' +
      'Collectors emit what a test says, forwarders deliver nowhere, and days pass in milliseconds. The exit code ' +
      'is 0, or 1 if a test failed, or 2 if a configuration or a test is wrong or there are no tests. With --mutate ' +
      'and --coverage it is also 1 if the tests leave a gap.',
    takesFiles: true,
    examples: [
      'millrace test pipelines.yaml',
      'millrace test pipelines.yaml --mutate --coverage',
      'millrace test examples/*.yaml --junit out/junit.xml',
      "millrace test pipelines.yaml --filter 'keys are masked' --text",
    ],
  })
    .option('--filter <name>', 'only tests whose name contains this, or matches /this/')
    .option('--text', 'draw the run of every test, not only of those that failed')
    .option('--svg <folder>', 'save a picture of every test in this folder')
    .option('--junit <file>', 'save the results as JUnit XML')
    .addOption(
      new Option('--update', 'write the snapshots that tests compare with').conflicts(['mutate', 'watch']),
    )
    .option('--coverage', 'list what no test reaches: entries, rules, conditions and failures')
    .option(
      '--explore <n>',
      'try n orders of what happens at the same time at different entries',
      wholeNumber(),
    )
    .addOption(
      new Option('--explore-seed <seed>', 'try the order of this seed, as --explore shows it')
        .argParser(wholeNumber())
        .conflicts('explore'),
    )
    .option('--jitter <duration>', 'with --explore: how much later things may happen, such as 5ms', duration)
    .option(
      '--seed <seed>',
      'for tests with `any`: generate other events, or those of a seed; or `random`',
      seed,
    )
    .option('--runs <n>', 'for tests with `any`: how many runs are tried', wholeNumber())
    .option('--mutate', 'change the configuration in small ways, and list the changes that no test notices')
    .option('--timeout <seconds>', 'how long the run of a test may take in real time', seconds, 60)
    .option('--time-limit <seconds>', 'with --mutate: how long it may take', seconds, 300)
    .addOption(
      new Option('--reporter <reporter>', 'how results are printed; `github` adds annotations')
        .choices(REPORTERS)
        .default(
          process.env.GITHUB_ACTIONS === 'true' ? 'github' : 'text',
          '`github` in GitHub Actions, else `text`',
        ),
    )
    .option('--watch', 'run again when a file changes, until Ctrl-C')
    .action(async (files: string[], _options: unknown, command: Command) => {
      requireFiles('test', files);
      const { test } = await import('./test.ts');
      ended(await test(files, command.optsWithGlobals<TestOptions>()));
    });
}

export interface ReplayOptions extends GlobalOptions {
  readonly pipeline: string;
  /** The pipeline whose entries are sent; `pipeline` if not given. */
  readonly from?: string;
  /** Whether events also go to the forwarders that already took them. */
  readonly allForwarders?: boolean;
  /** Seconds. */
  readonly drainTimeout: number;
  /** Seconds. */
  readonly giveUpAfter: number;
}

const REPLAY_EXAMPLE = 'millrace replay dead.jsonl --pipeline web pipelines.yaml';

export function addReplay(program: Command, ended: Ended): void {
  addCommand(program, 'replay [deadLetters] [file...]', {
    usage: '[options] DEAD-LETTERS --pipeline NAME FILE...',
    summary: 'send the events of a dead-letter file through their pipeline again',
    description:
      'Sends each event in DEAD-LETTERS, a file that a dead letter wrote, through the processors of a pipeline ' +
      'again, and then to the forwarder that failed on it. Does not change the file, and does not start ' +
      'collectors. The exit code is 0, or 1 if an entry could not be sent or was not delivered, or 2 if the ' +
      'command line or the configuration is wrong.',
    takesFiles: true,
    examples: [REPLAY_EXAMPLE, 'millrace replay dead.jsonl --pipeline repair --from web pipelines.yaml'],
  })
    .requiredOption('--pipeline <name>', 'the pipeline to send the events through')
    .option('--from <name>', 'the pipeline whose entries to send (default: that of --pipeline)')
    .option('--all-forwarders', 'send every event to all forwarders of the pipeline')
    .option('--drain-timeout <seconds>', 'how long events in flight may take to drain', seconds, 10)
    .option(
      '--give-up-after <seconds>',
      'how long a forwarder may fail before the replay fails',
      seconds,
      300,
    )
    .action(async (deadLetters: string | undefined, files: string[], _options: unknown, command: Command) => {
      if (deadLetters === undefined) {
        throw new UsageError(
          `replay needs a file of dead letters, such as: ${REPLAY_EXAMPLE}\nTry: millrace replay --help`,
        );
      }
      requireFiles('replay', files, REPLAY_EXAMPLE);
      const { replay } = await import('./replay.ts');
      ended(await replay(deadLetters, files, command.optsWithGlobals<ReplayOptions>()));
    });
}

export interface RecordOptions extends GlobalOptions, StateOptions {
  readonly pipeline: string;
  /** How long to record: a time with its unit. */
  readonly for: string;
  readonly events: number;
  readonly output?: string;
  readonly once?: boolean;
  /** Seconds. */
  readonly drainTimeout: number;
}

const RECORD_EXAMPLE = 'millrace record pipelines.yaml --pipeline web > incident.test.yaml';

export function addRecord(program: Command, ended: Ended): void {
  const command = addCommand(program, 'record [file...]', {
    usage: '[options] FILE... --pipeline NAME',
    summary: 'run a pipeline, and record what happens as a test',
    description:
      'Runs one pipeline, as `millrace run` does, and writes what happened to standard output as a test: what its ' +
      'collectors emitted, with secrets masked, and when, how long each call of its forwarders took, which of them ' +
      'failed, and restarts. `millrace test` replays it in virtual time. Ctrl-C ends the recording earlier. The exit ' +
      'code is 0, or 1 if what was recorded cannot be replayed, or 2 if the configuration or the command line is wrong.',
    takesFiles: true,
    examples: [
      RECORD_EXAMPLE,
      'millrace record pipelines.yaml --pipeline web --for 10m --output incident.test.yaml',
    ],
  })
    .requiredOption('--pipeline <name>', 'the pipeline to record')
    .option('--for <duration>', 'how long to record, such as 90s or 10m', duration, '60s')
    .option('--events <n>', 'end the recording after so many events', wholeNumber(10_000), 10_000)
    .option('--output <file>', 'write the test to this new file, NAME.test.yaml')
    .option('--once', 'process what is there now, then exit')
    .option('--drain-timeout <seconds>', 'how long events in flight may take to drain', seconds, 10);
  withState(command).action(async (files: string[]) => {
    requireFiles('record', files, RECORD_EXAMPLE);
    const { record } = await import('./record.ts');
    ended(await record(files, command.optsWithGlobals<RecordOptions>()));
  });
}

export interface ListStateOptions extends GlobalOptions, StateOptions {
  /** The configuration whose buffers on disk are listed too. */
  readonly config?: string;
}

export interface ForgetOptions extends GlobalOptions, StateOptions {
  readonly pipeline?: string;
  readonly collector?: string;
}

export function addState(program: Command, ended: Ended): void {
  const state = addCommand(program, 'state', {
    usage: '[options]',
    summary: 'list the checkpoints of files, and buffers on disk',
    description:
      'Lists the checkpoints of a state folder: the offset of each collector of each pipeline in each file, and ' +
      'how much is left to read; with --config the buffers on disk of a configuration instead. A run that is using them is ' +
      'not disturbed.',
    examples: [
      'millrace state',
      'millrace state --config gateway.yaml',
      'millrace state forget /var/log/nginx/access.log',
    ],
  })
    .option('--state-dir <folder>', `the state folder ${STATE_DIR_DEFAULT}`, folder)
    .option('--config <file>', 'list the buffers on disk of this configuration, in place of checkpoints')
    .allowExcessArguments(true)
    .action(async (_options: unknown, command: Command) => {
      const [name] = command.args;
      if (name !== undefined) unknownCommand(command, name, command);
      const { listBuffers, listState } = await import('./state.ts');
      const options = command.optsWithGlobals<ListStateOptions>();
      ended(await (options.config === undefined ? listState(options) : listBuffers(options.config)));
    });

  addCommand(state, 'forget <path-or-key>', {
    usage: '[options] PATH|KEY',
    summary: 'forget a file, so that it is read from its beginning',
    description:
      'Forgets the checkpoint of a file: the next run reads it from its beginning. PATH is where the file was seen ' +
      'last, KEY what `millrace state` shows. No run may be using the state folder.',
    examples: [
      'millrace state forget /var/log/nginx/access.log',
      'millrace state forget 2049:131 --pipeline web',
    ],
  })
    .option('--pipeline <name>', 'only the checkpoints of this pipeline')
    .option('--collector <name>', 'only the checkpoints of this collector')
    .action(async (file: string, _options: unknown, command: Command) => {
      const { forgetState } = await import('./state.ts');
      ended(await forgetState(file, command.optsWithGlobals<ForgetOptions>()));
    });
}

export interface RedactCommandOptions {
  readonly packs?: string;
  readonly pii?: boolean;
  readonly config?: string;
}

export function addRedact(program: Command, ended: Ended): void {
  const command = addCommand(program, 'redact [file...]', {
    usage: '[options] [FILE...]',
    summary: 'copy lines to standard output, masked',
    description:
      'Copies lines from files, or from standard input, to standard output, with the secrets in them masked, and ' +
      'with --pii personal data as well. One line comes out for each line in.',
    examples: [
      'kubectl logs app | millrace redact',
      'millrace redact --pii app.log',
      'millrace redact --packs default,./packs/acme.yaml app.log',
    ],
  });
  withRules(command).action(async (files: string[], options: RedactCommandOptions) => {
    const { redact } = await import('./redact.ts');
    ended(await redact(files, options));
  });
}

export function addScan(program: Command, ended: Ended): void {
  const command = addCommand(program, 'scan [file...]', {
    usage: '[options] FILE...',
    summary: 'report what would be masked, and where',
    description:
      'Reports the place and the rule of everything that would be masked in files and folders, never the content. ' +
      'The exit code is 1 if there is anything, and 2 if a file could not be read.',
    examples: [
      'millrace scan app.log',
      'millrace scan --packs secrets/keys,pii/payment *.log',
      'app 2>&1 | millrace scan -',
    ],
  });
  withRules(command).action(async (files: string[], options: RedactCommandOptions) => {
    const { scan } = await import('./redact.ts');
    ended(await scan(files, options));
  });
}

function withRules(command: Command): Command {
  return command
    .option(
      '--packs <names>',
      'the packs to apply, with commas between them, in place of the default ones, which are `default`; `all` has all. A pack of your own is a path or an npm package',
      (names: string, before?: string) => (before === undefined ? names : `${before},${names}`),
    )
    .option(
      '--pii',
      'also mask personal data: names, addresses, birth dates, cards, e-mail and IP addresses, phone and national numbers',
    )
    .option('--config <file>', 'a configuration whose `redact` processor says what to mask');
}

export interface ReportOptions {
  /** An earlier report, which `--json` saved. */
  readonly since?: string;
  readonly json?: string;
  readonly html?: string;
}

export function addReport(program: Command, ended: Ended): void {
  addCommand(program, 'report [file...]', {
    usage: '[options] FILE...',
    summary: 'report what redact found, from its audits',
    description:
      'Adds up the audits of `redact` processors: how much was found by which rule, in which field, from which source and on which ' +
      'day, and what an earlier report did not have. Never shows a value: audits have none. The exit code is 0, or 1 if --since is given ' +
      'and something is new, or 2 if a file cannot be read or written.',
    examples: [
      'millrace report audit.jsonl --html report.html',
      'millrace report audit.jsonl --since report.json --json report.json',
    ],
  })
    .option('--since <file>', 'show what is new since this report, which --json saved')
    .option('--json <file>', 'save the report in this file, for --since and for other tools')
    .option('--html <file>', 'save the report as a page that needs no other file')
    .action(async (files: string[], options: ReportOptions) => {
      const { report } = await import('./report.ts');
      ended(await report(files, options));
    });
}

export function addHash(program: Command, ended: Ended): void {
  addCommand(program, 'hash [file...]', {
    usage: 'FILE...',
    summary: 'print what a value looks like in events that redact masked with a key',
    description:
      'Reads values from standard input, one a line, and prints the hashes that stand in their place in masked events: ' +
      'under each key that `redact` processors of the configuration name, also those of earlier times. Values are not ' +
      'arguments, so that neither `ps` nor the history of a shell has them. The exit code is 0, or 1 if the environment lacks a ' +
      'key, or 2 if the configuration or the command line is wrong.',
    takesFiles: true,
    examples: [
      'millrace hash pipelines.yaml < value.txt',
      'millrace hash pipelines.yaml < value.txt | cut -f1 | grep -Ff - masked/*.jsonl',
    ],
  }).action(async (files: string[]) => {
    requireFiles('hash', files);
    const { hash } = await import('./hash.ts');
    ended(await hash(files));
  });
}

export interface PacksOptions {
  /** The pack to test. */
  readonly test?: string;
  /** A file with lines that have no secrets. */
  readonly ordinary?: string;
  readonly json?: boolean;
}

export function addPacks(program: Command, ended: Ended): void {
  addCommand(program, 'packs [name]', {
    usage: '[options] [NAME]',
    summary: 'list the redaction packs, or the rules of one, or test one',
    description:
      'Lists the redaction packs; with NAME, the rules of one, where each comes from, and examples. NAME may be the path ' +
      'of a pack of your own, or an npm package. With --test, runs the examples of a pack, and then the pack over 10,000 ' +
      'ordinary lines without secrets. The exit code is 0 if every example is as it should be, 1 if one is not, and 2 if ' +
      'there is no such pack.',
    examples: [
      'millrace packs secrets/keys',
      'millrace packs --test packs/acme.yaml',
      'millrace packs --test packs/acme.yaml --ordinary app.log',
    ],
  })
    .option('--test <pack>', 'test a pack: the path of a file, an npm package, or a name')
    .option(
      '--ordinary <file>',
      'with --test: lines of your own that have no secrets, in place of generated ones',
    )
    .option('--json', 'with --test: print the results as JSON')
    .action(async (name: string | undefined, options: PacksOptions) => {
      if (options.test === undefined) {
        const alone = options.json ? '--json' : options.ordinary === undefined ? undefined : '--ordinary';
        if (alone !== undefined) throw new UsageError(`${alone} requires --test PACK`);
        const { packs } = await import('./packs.ts');
        ended(packs(name));
        return;
      }
      if (name !== undefined)
        throw new UsageError(`packs takes either NAME or --test PACK; leave out ${JSON.stringify(name)}`);
      const { testPacks } = await import('./test-packs.ts');
      ended(testPacks(options.test, options));
    });
}

export function addPlugins(program: Command, ended: Ended): void {
  addCommand(program, 'plugins [kind] [name]', {
    usage: '[options] [KIND [NAME]]',
    summary: 'list the built-in plugins, or describe one',
    description:
      'Lists the built-in plugins; with KIND (collect, process, forward) and NAME, describes one of them.',
    examples: ['millrace plugins', 'millrace plugins process regex_mask'],
  })
    .option('--json', 'print descriptions, fields and examples as JSON')
    .action(async (kind: string | undefined, name: string | undefined, options: { json?: boolean }) => {
      const { plugins } = await import('./plugins.ts');
      ended(await plugins(kind, name, options));
    });
}

export function addSchema(program: Command, ended: Ended): void {
  addCommand(program, 'schema', {
    usage: '[options]',
    summary: 'print the JSON Schema of configuration files',
    description: 'Prints the JSON Schema of configuration files, for editors and other tools.',
    examples: [
      'millrace schema > millrace.schema.json',
      'millrace schema --tests > millrace.test.schema.json',
    ],
  })
    .option('--tests', 'that of files of tests, `*.test.yaml`')
    .action(async (options: { tests?: boolean }) => {
      const { jsonSchemaText } = await import('../config/json-schema.ts');
      process.stdout.write(`${(await jsonSchemaText(options)).trimEnd()}\n`);
      ended(ExitCode.ok);
    });
}
