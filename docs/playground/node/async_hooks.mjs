/** A browser does not tell of promises. */
export const createHook = () => {
  const hook = { enable: () => hook, disable: () => hook };
  return hook;
};

/** All code in the page is that of the test. */
export class AsyncLocalStorage {
  run(_store, work) {
    return work();
  }

  getStore() {
    return undefined;
  }

  disable() {}
}
