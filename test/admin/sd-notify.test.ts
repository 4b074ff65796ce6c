import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderWith, startCli, startProcess } from '../support/cli.ts';

const hasProgram = (name: string) => spawnSync(name, ['--version']).status === 0;
const missing = ['python3', 'systemd-notify'].filter((name) => !hasProgram(name));
const describeOr = missing.length === 0 ? describe : describe.skip;
const why = missing.length === 0 ? '' : ` (needs ${missing.join(' and ')}, which is not installed)`;

/** A datagram socket as that of systemd, which Node does not have. Prints each datagram. */
const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    data, anc, _, _ = s.recvmsg(4096, socket.CMSG_SPACE(16))
    print(data.decode().replace('\\n', ' '), flush=True)
`;

const CONFIG = `
collectors: { ticks: { plugin: test, interval: 0.01, count: 1000000 } }
forwarders: { nowhere: { plugin: noop } }
pipelines: { main: { collect: ticks, forward: nowhere } }
host_config: {}
`;

describeOr(`a run under systemd${why}`, () => {
  it('says when it is ready, what it does, that it is alive, and that it stops', async () => {
    const cwd = folderWith({ 'p.yaml': CONFIG });
    const socket = join(cwd, 'notify.sock');
    const receiver = startProcess('python3', ['-c', RECEIVER, socket]);
    await receiver.shows('stdout', /bound/);
    const env = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' };
    const cli = await startCli(['run', 'p.yaml', '--no-state'], { cwd, env });
    await receiver.shows('stdout', /READY=1/);
    await receiver.shows('stdout', /STATUS=1 pipeline, no problems/);
    await receiver.shows('stdout', /WATCHDOG=1[\s\S]*WATCHDOG=1/);
    cli.kill('SIGTERM');
    await receiver.shows('stdout', /STOPPING=1/);
    expect((await cli.ended()).code).toBe(0);
    expect(receiver.stdout.indexOf('READY=1')).toBeLessThan(receiver.stdout.indexOf('STOPPING=1'));
    receiver.kill('SIGKILL');
    await once(receiver.child, 'close');
  });
});

describe('a run elsewhere', () => {
  it('notifies nobody', async () => {
    const cwd = folderWith({ 'p.yaml': CONFIG });
    const cli = await startCli(['run', 'p.yaml', '--no-state'], { cwd, env: { PATH: '/nowhere' } });
    await cli.shows('stderr', /main: running/);
    cli.kill('SIGTERM');
    expect((await cli.ended()).stderr).not.toContain('systemd');
  });
});
