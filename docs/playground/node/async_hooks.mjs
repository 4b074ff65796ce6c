/** A browser does not tell of promises. */
export const createHook = () => {
  const hook = { enable: () => hook, disable: () => hook };
  return hook;
};
