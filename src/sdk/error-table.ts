/** What is known of an error that millrace throws. All of it is Markdown, and stands in docs/errors.md. */
interface ErrorInfo {
  readonly meaning: string;
  readonly thrownBy: string;
  readonly action: string;
}

/**
 * Every error of the public API, by its code. Only types import this table when millrace runs. `npm run errors` writes
 * docs/errors.md from it.
 */
export const ERROR_TABLE = {
  MILLRACE_ADMIN: {
    meaning: 'Metrics and health cannot be served: the address cannot be listened on, or a token is missing',
    thrownBy: '`millrace run`',
    action: 'Choose another address with `--admin` or `admin.listen`, or set `admin.token`',
  },
  MILLRACE_ARGUMENT: {
    meaning:
      'A program called a function of millrace with an argument of the wrong shape, or with an unknown option',
    thrownBy: 'every function',
    action: 'Pass what the message says was expected',
  },
  MILLRACE_CIRCUIT_OPEN: {
    meaning: 'A call was refused because earlier calls failed: a `CircuitOpenError`',
    thrownBy: '`circuitBreaker`',
    action: 'Try again after its `retryAfter`, in milliseconds',
  },
  MILLRACE_CONFIG: {
    meaning: 'A configuration is invalid: a `ConfigError`, whose `problems` lists each error with its place',
    thrownBy: '`loadConfig`, `parseConfig`, every command that reads a configuration',
    action: 'Correct the listed errors; `millrace validate FILE` checks again',
  },
  MILLRACE_CONFORMANCE: {
    meaning: "A plugin fails a check of the conformance kit; the error's `report` has all of them",
    thrownBy: 'the conformance kit',
    action: 'Correct the plugin as the message says',
  },
  MILLRACE_EXPRESSION: {
    meaning:
      'A regular expression is not valid: an `ExpressionError`, whose `rule` and `reason` say which and why',
    thrownBy: 'masks among the operators',
    action: 'Correct the expression',
  },
  MILLRACE_GAVE_UP: {
    meaning:
      'In a run with `once`, a forwarder failed for longer than `giveUpAfter` allows; the message has the cause',
    thrownBy: 'a run with `once`',
    action: 'Remove the cause and run again: no undelivered event was acknowledged',
  },
  MILLRACE_HOST: {
    meaning: 'The host passed to `new Manager` lacks a function or a beacon that the configuration names',
    thrownBy: '`new Manager`',
    action: 'Correct the name, or pass the host that `loadConfig` returns, or a host that has it',
  },
  MILLRACE_HOST_ARGUMENTS: {
    meaning: 'A host function was called with arguments that it does not take',
    thrownBy: 'a collector that calls a function of the host',
    action: 'Correct `args` and `kwargs` of the collector; the message names the parameters',
  },
  MILLRACE_HOST_CONFIG: {
    meaning: '`host_config` is invalid, or names modules where only built-in functions are available',
    thrownBy: '`new Manager` without a host',
    action: 'Correct it; load modules with `loadConfig`, and pass its host: `new Manager(config, { host })`',
  },
  MILLRACE_HOST_FUNCTION: {
    meaning: 'There is no host function with that name',
    thrownBy: 'a collector that calls a function of the host',
    action: 'Correct `fn` of the collector, or add the module that has it to `host_config.functions`',
  },
  MILLRACE_HOST_READING: {
    meaning:
      'The machine does not provide what a beacon or function reads: for example, an interface does not exist',
    thrownBy: 'a beacon or function of the host',
    action: 'Correct the name in `host_config`; or give the process the permission to read',
  },
  MILLRACE_MASK: {
    meaning: 'A value cannot be masked, such as a cycle, or takes too long: a `MaskError`',
    thrownBy: 'masks among the operators',
    action: 'Do not forward the value: it may contain a secret. Pass what JSON can hold',
  },
  MILLRACE_NODE_VERSION: {
    meaning: 'The version of Node.js is too old',
    thrownBy: "`import 'millrace'`",
    action: 'Install the version that the message names',
  },
  MILLRACE_NO_TEXT: {
    meaning:
      '`millrace redact` or `millrace scan` got a file in UTF-16, a compressed or a binary file, in which rules for text find nothing',
    thrownBy: '`millrace redact`, `millrace scan`',
    action: 'Convert it to UTF-8 or decompress it first',
  },
  MILLRACE_PIPELINE_DISABLED: {
    meaning: 'A program or command tried to start a pipeline with `enabled: false` by its name',
    thrownBy: '`start`',
    action: 'Set `enabled: true`, or do not start it',
  },
  MILLRACE_PIPELINE_STOPPING: {
    meaning: 'A pipeline was started while it was being stopped',
    thrownBy: '`start`',
    action: 'Wait for what `stop()` returns, then start it',
  },
  MILLRACE_PIPELINE_UNKNOWN: {
    meaning: 'There is no pipeline with that name',
    thrownBy: '`start`, `stop` and others that take a name',
    action: 'Use one of the names in the message',
  },
  MILLRACE_PLUGIN: {
    meaning: 'A plugin failed: a `PluginError`, or an event that cannot be masked or written',
    thrownBy: 'a plugin',
    action:
      'Depends on the plugin: see its message. `permanent: true` on the error means that a retry will not help',
  },
  MILLRACE_PLUGIN_CONTRACT: {
    meaning:
      'The argument of `registerPlugin`, `defineProcessor` or a similar function lacks a required function',
    thrownBy: '`registerPlugin`, `defineCollector`, `defineProcessor`, `defineForwarder`',
    action: 'Add `get_config_schema` and `collect`, `process` or `forward`',
  },
  MILLRACE_PLUGIN_MODULE: {
    meaning: 'The module of a plugin does not load, or is not a plugin of this kind',
    thrownBy: '`loadConfig`',
    action: 'Correct the module: the message says what it threw or lacks',
  },
  MILLRACE_PLUGIN_NAME: {
    meaning: 'A plugin cannot be registered under that name, because it is empty or taken',
    thrownBy: '`registerPlugin`',
    action: 'Choose another name',
  },
  MILLRACE_PLUGIN_NOT_FOUND: {
    meaning: 'A module or package that a configuration names does not exist',
    thrownBy: '`loadConfig`',
    action:
      'Correct `plugin`: paths start with `./` and are relative to the configuration; packages must be installed there',
  },
  MILLRACE_PLUGIN_RETURN: {
    meaning:
      'A collector or processor returned or emitted a value that is not an event, such as a number, or a function of a plugin returned what the contract does not allow. The run fails, and no undelivered event is acknowledged',
    thrownBy: 'a run',
    action: 'Return one of the forms that the message lists',
  },
  MILLRACE_STATE_FOLDER: {
    meaning: 'The state folder cannot be used or read',
    thrownBy: '`openState`, `readState`',
    action: "Use a folder on a local disk that the process may write to; the message has the system's reason",
  },
  MILLRACE_STATE_FORMAT: {
    meaning: 'A later version of millrace wrote the state folder, and this one cannot read it',
    thrownBy: '`openState`, `readState`',
    action: 'Use that version, or another folder',
  },
  MILLRACE_STATE_LOCKED: {
    meaning: 'Another process uses the state folder; the message has its pid',
    thrownBy: '`openState`',
    action: 'Stop that process, or use another folder for this one',
  },
  MILLRACE_STATE_REQUIRED: {
    meaning: 'A pipeline has `exactly_once`, and there is no state folder to commit to',
    thrownBy: '`new Manager`',
    action:
      'Pass the option `state` to the Manager, or a state folder on the command line; or set `exactly_once: false`',
  },
  MILLRACE_TEST_CLOCK: {
    meaning: 'A plugin under test set a timer of `node:timers`, which virtual time does not govern',
    thrownBy: 'a test in virtual time',
    action: 'Use the global `setTimeout` or `timer` of RxJS',
  },
  MILLRACE_TEST_DURATION: {
    meaning: 'A duration in a test cannot be read',
    thrownBy: '`testPipeline`, `millrace test`',
    action: 'Write a number with a unit: `250ms`, `3s`, `1m30s`, `2h`, `1d`',
  },
  MILLRACE_TEST_ENDLESS: {
    meaning:
      'A run in virtual time took longer than it may in real time. With `--mutate`, the change counts as noticed',
    thrownBy: 'a test in virtual time',
    action: 'Give a pipeline without an end an `until`, and a long run a longer `--timeout`',
  },
  MILLRACE_TEST_EVENT: {
    meaning: 'A processor under test changed an event that it was given, or that it had emitted',
    thrownBy: 'a test in virtual time',
    action: 'Return a new event: the message names the line, and shows how',
  },
  MILLRACE_TEST_FAILURE: {
    meaning: 'The error of a collector whose marbles end with `#`, if the test defines no other',
    thrownBy: 'a stand-in collector',
    action: 'Nothing: the test expects it',
  },
  MILLRACE_TEST_FILE: {
    meaning:
      'A step of a test with virtual files cannot be done, such as to rename a file that does not exist',
    thrownBy: 'a test with `files`',
    action: 'Correct the step: the message names it and its path',
  },
  MILLRACE_TEST_FORM: {
    meaning:
      'What `mapLines` or `mapRows` of a processor under test does differs from what its `process` does',
    thrownBy: 'a test in virtual time',
    action: 'Correct the faster form: the message shows the first event for which the two differ',
  },
  MILLRACE_TEST_HOST: {
    meaning: 'A pipeline under test needs a host, and the test provides none',
    thrownBy: '`testPipeline`',
    action: 'Pass the option `host` to `testPipeline`',
  },
  MILLRACE_TEST_MARBLES: {
    meaning: 'A marble string cannot be read',
    thrownBy: '`testPipeline`, `millrace test`',
    action: 'Correct the part that the message names',
  },
  MILLRACE_TEST_NAME: {
    meaning: 'A test names a pipeline, collector or forwarder that the configuration does not have',
    thrownBy: '`testPipeline`, `millrace test`',
    action: 'Use one of the names in the message',
  },
  MILLRACE_TEST_NODE: {
    meaning: 'A test with virtual files runs where there is no Node.js, such as in the playground',
    thrownBy: 'a test with `files`',
    action: 'Run it with `millrace test`',
  },
  MILLRACE_TEST_PROMISE: {
    meaning:
      'A plugin under test waited for a promise, or for the next tick of the process, when virtual time ended',
    thrownBy: 'a test in virtual time',
    action: 'Return an Observable or an array, or test the plugin in real time',
  },
  MILLRACE_USAGE: {
    meaning: 'The command line is invalid',
    thrownBy: '`millrace`',
    action: 'See `millrace help COMMAND`',
  },
} as const satisfies Readonly<Record<`MILLRACE_${string}`, ErrorInfo>>;

/** The code of an error of millrace: docs/errors.md explains each. It stays the same between versions. */
export type ErrorCode = keyof typeof ERROR_TABLE;
