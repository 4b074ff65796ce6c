import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, timer } from 'rxjs';
import { Connections } from '../../src/admin/connections.ts';
import { marbles } from '../support/marbles.ts';

class FakeSocket extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const fake = () => new FakeSocket() as FakeSocket & Duplex;

const LIMITS = { most: 10, requestMs: 1000, answerMs: 5000 };

describe('the connections of the admin server', () => {
  it('are so many at most: the oldest of an unknown client makes room', () => {
    marbles(() => {
      const connections = new Connections({ ...LIMITS, most: 3 });
      const [first, second, third, fourth, fifth] = [fake(), fake(), fake(), fake(), fake()];
      for (const socket of [first, second, third]) connections.add(socket);
      connections.setUse(first, 'admitted');
      connections.add(fourth);
      connections.add(fifth);
      expect([first, second, third, fourth, fifth].map(({ destroyed }) => destroyed)).toEqual([
        ...[false, true, true],
        ...[false, false],
      ]);
    });
  });

  it('of admitted clients go before recordings', () => {
    marbles(() => {
      const connections = new Connections({ ...LIMITS, most: 2 });
      const [recording, admitted, next] = [fake(), fake(), fake()];
      for (const socket of [recording, admitted]) connections.add(socket);
      connections.setUse(recording, 'recording');
      connections.setUse(admitted, 'admitted');
      connections.add(next);
      expect([recording, admitted, next].map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
      recording.destroy();
    });
  });

  it('end at the deadline of their request, or of its answer; a recording has none', () => {
    const ended: string[] = [];
    marbles(() => {
      const connections = new Connections(LIMITS);
      const open = (name: string) => {
        const socket = fake();
        socket.once('close', () => ended.push(`${asyncScheduler.now()} ${name}`));
        connections.add(socket);
        return socket;
      };
      open('silent');
      const asking = open('asking');
      const recorded = open('recorded');
      timer(900).subscribe(() => connections.setUse(asking, 'admitted'));
      timer(900).subscribe(() => connections.setUse(recorded, 'recording'));
      timer(60_000).subscribe(() => connections.setUse(recorded, 'admitted'));
    });
    expect(ended).toEqual(['1000 silent', '5900 asking', '65000 recorded']);
  });

  it('end all together', () => {
    marbles(() => {
      const connections = new Connections(LIMITS);
      const sockets = [fake(), fake()];
      for (const socket of sockets) connections.add(socket);
      connections.closeAll();
      expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true]);
    });
  });
});
