import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

const STACK_TRACE_LIMIT = 10;

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
