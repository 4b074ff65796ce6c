import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

const STACK_TRACE_LIMIT = 10;

/** What V8 has compiled of each file, by its path. */
const compiled = new Map();

/**
 * Compiles a file once for all test files of a worker, and not once for each, which takes a quarter of the time to load it.
 *
 * @param compile compiles it, from what V8 has compiled before if that is given
 * @param cachedDataOf what V8 has compiled
 */
function compileOnce(path, source, compile, cachedDataOf) {
  const known = compiled.get(path);
  if (known?.source === source) {
    try {
      return compile(known.cachedData);
    } catch {
      // V8 refuses what it has compiled with other flags.
    }
  }
  const result = compile();
  // Node.js 20 does not find what answers an `import()` in code that was compiled before.
  const isReusable = path !== undefined && !/\bimport\s*\(/.test(source);
  compiled.set(path, { source, cachedData: isReusable ? cachedDataOf(result) : undefined });
  return result;
}

const { SourceTextModule, compileFunction } = vm;

vm.SourceTextModule = new Proxy(SourceTextModule, {
  construct: (_, [source, options]) =>
    compileOnce(
      options?.identifier,
      source,
      (cachedData) => new SourceTextModule(source, { ...options, cachedData }),
      (module) => module.createCachedData(),
    ),
});
vm.compileFunction = (source, parameters, options) =>
  compileOnce(
    options?.filename,
    source,
    (cachedData) =>
      compileFunction(source, parameters, {
        ...options,
        cachedData,
        produceCachedData: cachedData === undefined,
      }),
    (result) => result.cachedData,
  );

/**
 * What a program has, where Jest gives tests something slower. Its global object looks properties up through a Proxy, so that
 * each use of `Math` or `Buffer` takes 0.3 µs, forty times as long; here it is an ordinary object. And each new error, of which
 * some tests create thousands, collects up to 100 calls; here it collects 10, as in Node.js.
 */
export default class OrdinaryGlobals extends TestEnvironment {
  constructor(...args) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...args);
    } finally {
      vm.createContext = createContext;
    }
    this.global.Error.stackTraceLimit = STACK_TRACE_LIMIT;
  }

  async setup() {
    await super.setup();
    // Jest has set it for itself since, and so for the errors of Node.js.
    Error.stackTraceLimit = STACK_TRACE_LIMIT;
  }
}
