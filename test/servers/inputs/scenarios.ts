import fs from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { byForm } from '../../faults/support/form.ts';
import { kill, type Trial } from '../../faults/support/trial.ts';
import type { CliProcess } from '../../support/cli.ts';
import { freePort, skipWithout } from '../support/start-server.ts';
import { Gateway, IN_FLIGHT } from './gateway.ts';
import type { InputConnector } from './input-connector.ts';

const LINES = byForm({ short: 10_000, long: 50_000 });
const KILLS = byForm({ short: 4, long: 10 });
const CONNECTIONS = 1000;
/** Lines of a request. */
const BATCH = 50;
const SENDERS = 8;

/** Senders that push to a collector as badly as they can, with a buffer on disk: what was acknowledged arrives. */
export function testInput(connector: InputConnector): void {
  skipWithout(...connector.needs)(`${connector.name}: nothing acknowledged is lost and nothing leaks`, () => {
    const gateways: Gateway[] = [];
    const sockets = new Set<Socket>();
    afterEach(async () => {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      await Promise.all(gateways.splice(0).map((gateway) => gateway.close()));
    });

    async function prepare() {
      const port = await freePort();
      const gateway = await Gateway.prepare(connector.name, connector.collector(port), /listens on/);
      gateways.push(gateway);
      return { port, gateway };
    }

    /** Sends lines again until they are acknowledged. Returns how often they were not. */
    async function sendUntilTaken(port: number, lines: readonly string[]): Promise<number> {
      for (let refused = 0; ; refused++) {
        if (await connector.send(port, lines)) return refused;
        await delay(20);
      }
    }

    function linesOf({ oracle }: Trial, count = BATCH): string[] {
      return Array.from({ length: count }, () => oracle.line());
    }

    /** Memory of a process in MiB. */
    function memoryOf({ child }: CliProcess): number {
      const text = fs.readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) / 1024;
    }

    function open(port: number, connect = connector.connect): Socket {
      const socket = connect(port).on('error', () => {});
      sockets.add(socket);
      return socket.on('close', () => sockets.delete(socket)).resume();
    }

    const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

    it(`is killed ${KILLS} times between receipt and delivery`, async () => {
      const { port, gateway } = await prepare();
      const { trial } = gateway;
      // Nothing is delivered before the last life: everything depends on the buffer.
      gateway.refuse();
      let child = await gateway.run();
      let taken = 0;
      const sender = async () => {
        while (trial.oracle.written < LINES) {
          await sendUntilTaken(port, linesOf(trial));
          taken++;
        }
      };
      const senders = Promise.all(Array.from({ length: SENDERS }, sender));
      for (let n = 1; n <= KILLS; n++) {
        const least = Math.floor((LINES / BATCH) * (n / (KILLS + 1)));
        await trial.until(() => taken >= least);
        await delay(trial.oracle.between(0, 10));
        await kill(child);
        if (n === KILLS) gateway.take();
        child = await gateway.run();
      }
      await senders;
      const each = SENDERS * BATCH;
      await gateway.expectAll(`killed ${KILLS} times`, child, {
        repeats: KILLS * each,
        lost: connector.acknowledges ? 0 : KILLS * (each + IN_FLIGHT),
      });
    });

    it(`${CONNECTIONS} connections send at the same time`, async () => {
      const { port, gateway } = await prepare();
      const { trial } = gateway;
      const child = await gateway.run();
      const batches = Array.from({ length: CONNECTIONS }, () => linesOf(trial, 5));
      const refused = await Promise.all(batches.map((lines) => sendUntilTaken(port, lines)));
      const total = refused.reduce((sum, count) => sum + count, 0);
      await gateway.expectAll(`${CONNECTIONS} connections, ${total} refusals`, child, { repeats: total * 5 });
    });

    it('clients that send slowly, or nothing, keep nobody out, and are disconnected', async () => {
      const { port, gateway } = await prepare();
      const { trial } = gateway;
      const child = await gateway.run();
      // They do not even start with TLS.
      for (let n = 0; n < CONNECTIONS + 200; n++) open(port, (to) => connect(to, '127.0.0.1'));
      const ends = Array.from({ length: 100 }, () => {
        const socket = open(port);
        let at = 0;
        const trickle = setInterval(() => socket.write(connector.start.charAt(at++) || ' '), 100);
        return closed(socket).finally(() => clearInterval(trickle));
      });
      for (let n = 0; n < 20; n++) await sendUntilTaken(port, linesOf(trial));
      if (connector.disconnectsSlow) await Promise.all(ends);
      await gateway.expectAll('slow clients', child);
    });

    it('what is too large is refused in bounded memory', async () => {
      const { port, gateway } = await prepare();
      const { trial } = gateway;
      const child = await gateway.run();
      await sendUntilTaken(port, linesOf(trial));
      const before = memoryOf(child);
      let most = before;
      for (const pieces of Object.values(connector.oversized)) {
        const socket = open(port);
        const end = closed(socket);
        let isOpen = true;
        socket.once('close', () => {
          isOpen = false;
        });
        for (const piece of pieces()) {
          if (!isOpen) break;
          if (!socket.write(piece))
            await Promise.race([end, new Promise((resolve) => socket.once('drain', resolve))]);
          most = Math.max(most, memoryOf(child));
        }
        socket.end();
        await end;
        await sendUntilTaken(port, linesOf(trial));
      }
      await gateway.expectAll('oversized', child);
      expect(most - before).toBeLessThan(200);
    });

    it('what is malformed is refused, and nobody else notices', async () => {
      const { port, gateway } = await prepare();
      const { trial } = gateway;
      const child = await gateway.run();
      for (const bytes of Object.values(connector.malformed)) {
        const socket = open(port);
        const end = closed(socket);
        socket.end(bytes);
        await end;
        await sendUntilTaken(port, linesOf(trial));
      }
      await gateway.expectAll('malformed', child);
    });

    it('clients that leave before their answer, and send again', async () => {
      const { port, gateway } = await prepare();
      const { trial } = gateway;
      const child = await gateway.run();
      const rounds = 50;
      for (let n = 0; n < rounds; n++) {
        const lines = linesOf(trial);
        await connector.sendAndLeave(port, lines);
        await sendUntilTaken(port, lines);
      }
      await gateway.expectAll('clients that leave', child, { repeats: rounds * BATCH });
    });
  });
}
