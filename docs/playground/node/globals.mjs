import buffer from 'buffer/index.js';

/** What Node has in every module. */
globalThis.Buffer = buffer.Buffer;
globalThis.global = globalThis;
globalThis.process = {
  argv: [],
  arch: 'browser',
  cpuUsage: () => ({ user: 0, system: 0 }),
  cwd: () => '/',
  emitWarning: () => {},
  env: {},
  execArgv: [],
  hrtime: Object.assign(() => [0, 0], { bigint: () => 0n }),
  nextTick: (call, ...args) => queueMicrotask(() => call(...args)),
  on: () => globalThis.process,
  pid: 1,
  platform: 'browser',
  version: 'v20.19.0',
  versions: { node: '20.19.0' },
};
