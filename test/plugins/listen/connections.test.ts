import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { asyncScheduler } from 'rxjs';
import { Connections } from '../../../plugins/listen/connections.ts';
import { marbles } from '../../support/marbles.ts';

const SECOND = 1000;

class FakeSocket extends EventEmitter {
  static ports = 0;
  readonly remoteAddress = '127.0.0.1';
  readonly remotePort = ++FakeSocket.ports;
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** A server with so many connections, whose clients do what a test says at its time. */
function server(limits: { most: number; quietMs: number }) {
  const closed: string[] = [];
  const connections = new Connections(limits, (_, why) => closed.push(why));
  const open = () => {
    const socket = new FakeSocket() as FakeSocket & Socket;
    const hasRoom = connections.add(socket);
    return { socket, hasRoom, use: () => connections.use(socket), isOpen: () => !socket.destroyed };
  };
  return { connections, open, closed };
}

/** Runs steps in virtual time, at seconds. */
function inTime(steps: Readonly<Record<number, () => void>>): void {
  marbles(() => {
    for (const [at, step] of Object.entries(steps)) asyncScheduler.schedule(step, Number(at) * SECOND);
  });
}

describe('the connections of a listener', () => {
  it('make room when nothing ever came: the oldest goes, also before its minute is over', () => {
    const { open, closed } = server({ most: 3, quietMs: 60 * SECOND });
    const all: ReturnType<typeof open>[] = [];
    inTime({
      0: () => {
        all.push(open(), open(), open());
        all[0]?.use()();
      },
      // Its clients have had no time yet.
      0.5: () => expect(open().hasRoom).toBe(false),
      1: () => expect(open().hasRoom).toBe(true),
    });
    expect(all.map(({ isOpen }) => isOpen())).toEqual([true, false, true]);
    expect(closed).toEqual([
      'the limit `max_connections` is reached',
      expect.stringContaining('nothing came over it, and'),
    ]);
  });

  it('make room when all were used: the one that was quiet longest goes, not the oldest', () => {
    const { open, closed } = server({ most: 3, quietMs: 60 * SECOND });
    const all: ReturnType<typeof open>[] = [];
    inTime({
      0: () => {
        all.push(open(), open(), open());
        for (const { use } of all) use()();
      },
      30: () => all[0]?.use()(),
      59: () => expect(open().hasRoom).toBe(false),
      60: () => expect(open().hasRoom).toBe(true),
    });
    expect(all.map(({ isOpen }) => isOpen())).toEqual([true, false, true]);
    expect(closed.at(-1)).toContain('it was quiet longest');
  });

  it('make no room while they are in use, however long that takes', () => {
    const { open } = server({ most: 2, quietMs: SECOND });
    const uses: (() => void)[] = [];
    const all: ReturnType<typeof open>[] = [];
    inTime({
      0: () => {
        all.push(open(), open());
        for (const { use } of all) uses.push(use(), use());
      },
      3600: () => expect(open().hasRoom).toBe(false),
      3601: () => {
        for (const end of [uses[0], uses[1], uses[2]]) end?.();
      },
      // One of them has ended one of its two uses.
      3602: () => expect(open().hasRoom).toBe(true),
    });
    expect(all.map(({ isOpen }) => isOpen())).toEqual([false, true]);
  });

  it('that were just opened push out a tenth of those in use at most', () => {
    const { open } = server({ most: 50, quietMs: SECOND });
    const senders: ReturnType<typeof open>[] = [];
    const flood: ReturnType<typeof open>[] = [];
    inTime({
      0: () => {
        for (let n = 0; n < 50; n++) senders.push(open());
        for (const { use } of senders) use()();
      },
      ...Object.fromEntries(
        Array.from({ length: 1000 }, (_, n) => [60 + n / 100, () => void flood.push(open())]),
      ),
    });
    expect(senders.filter(({ isOpen }) => isOpen())).toHaveLength(45);
    expect(flood.filter(({ isOpen }) => isOpen())).toHaveLength(5);
  });

  it('give their place back when they end', () => {
    const { open } = server({ most: 1, quietMs: SECOND });
    inTime({
      0: () => open().socket.destroy(),
      0.1: () => expect(open().hasRoom).toBe(true),
    });
    expect.assertions(1);
  });
});
