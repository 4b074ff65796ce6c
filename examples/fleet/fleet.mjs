// Starts a NATS server, two agents and three workers, until you press Ctrl-C. Run it in the root of the repository:
//   node examples/fleet/fleet.mjs
// It needs `nats-server` in PATH, and the packages @nats-io/transport-node and @nats-io/jetstream.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';

const here = import.meta.dirname;
const millrace = join(here, '../../dist/src/cli/bin.js');
const state = 'out/fleet/state';

const probe = createServer().listen(0, '127.0.0.1');
await once(probe, 'listening');
const { port } = probe.address();
probe.close();
await once(probe, 'close');

const server = spawn('nats-server', ['-js', '-a', '127.0.0.1', '-p', String(port), '-sd', `${state}/nats`], {
  stdio: 'ignore',
  detached: true, // Ctrl-C is for the agents and workers first
});
server.on('error', (error) => {
  console.error(`cannot start nats-server: ${error.message}`);
  process.exit(1);
});

const run = (name, file, env) =>
  spawn(process.execPath, [millrace, 'run', join(here, file), '--state-dir', `${state}/${name}`], {
    stdio: 'inherit',
    env: { ...process.env, NATS_URL: `nats://127.0.0.1:${port}`, ...env },
  });
const processes = [
  ...['agent-1', 'agent-2'].map((name) => run(name, 'agent.yaml', { LOG: 'examples/data/access.log' })),
  ...['worker-1', 'worker-2', 'worker-3'].map((name) => run(name, 'worker.yaml', { WORKER: name })),
];
console.log('two agents and three workers run; see out/fleet/worker-*.jsonl; Ctrl-C ends them');

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const child of processes) child.kill('SIGTERM');
  });
}
await Promise.all(processes.map((child) => once(child, 'close')));
server.kill();
