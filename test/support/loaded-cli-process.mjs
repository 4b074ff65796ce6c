// Runs command lines one after the other in this process, for loaded-cli.ts: with everything loaded, a command
// takes a tenth of what a process of its own takes. Each message is a command line; the answer has its exit code.
const [, , folder, endOfOutput] = process.argv;
const { main } = await import(`${folder}/main.js`);

const emitters = [process, process.stdout, process.stderr];

/** Removes listeners that were added since. */
function listenerGuard(emitter) {
  const before = new Map(emitter.eventNames().map((name) => [name, emitter.rawListeners(name)]));
  return () => {
    for (const name of emitter.eventNames()) {
      for (const listener of emitter.rawListeners(name))
        if (!before.get(name)?.includes(listener)) emitter.off(name, listener);
    }
  };
}

process.on('message', async ({ args, cwd, env }) => {
  const guards = emitters.map(listenerGuard);
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  const code = await new Promise((resolve) => {
    process.exit = (given) => resolve(given ?? process.exitCode ?? 0);
    void main(args, () => {});
  });
  process.exitCode = undefined;
  for (const removeNew of guards) removeNew();
  process.stdout.write(endOfOutput);
  process.stderr.write(endOfOutput);
  process.send({ code });
});
process.send('ready');
