/** Runs what it is given without a time limit: the page ends a worker that takes too long. */
class Script {
  runInContext(context) {
    context.work();
  }
}

export default { Script, createContext: (context) => context };
