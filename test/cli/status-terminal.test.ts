import { describe, expect, it } from '@jest/globals';
import { StatusTerminal } from '../../src/cli/terminal.ts';

const CLEAR = '\r\u001b[2K';

function terminalOf(columns: number) {
  const writes: string[] = [];
  const terminal = new StatusTerminal({ isTTY: true, columns, write: (text) => writes.push(text) });
  return { terminal, writes };
}

describe('StatusTerminal', () => {
  it('passes lines through while there is no live line', () => {
    const { terminal, writes } = terminalOf(80);
    terminal.live('');
    terminal.write('hello\n');
    expect(writes).toEqual(['hello\n']);
  });

  it('clears the live line before a line and draws it again after, in one write', () => {
    const { terminal, writes } = terminalOf(80);
    terminal.live('in 1');
    terminal.write('hello\n');
    expect(writes).toEqual([`${CLEAR}in 1`, `${CLEAR}hello\nin 1`]);
  });

  it('takes the live line away, once', () => {
    const { terminal, writes } = terminalOf(80);
    terminal.live('in 1');
    terminal.live('');
    terminal.live('');
    terminal.write('bye\n');
    expect(writes).toEqual([`${CLEAR}in 1`, CLEAR, 'bye\n']);
  });

  it('clears several live lines together', () => {
    const { terminal, writes } = terminalOf(80);
    terminal.live('in 1\nweb: has failed\ndb: has failed');
    terminal.write('hello\n');
    terminal.live('in 2');
    const clearThree = '\r\u001b[2A\u001b[J';
    expect(writes).toEqual([
      `${CLEAR}in 1\nweb: has failed\ndb: has failed`,
      `${clearThree}hello\nin 1\nweb: has failed\ndb: has failed`,
      `${clearThree}in 2`,
    ]);
  });

  it('cuts the live line so that it never wraps, lines not', () => {
    const { terminal, writes } = terminalOf(8);
    terminal.live('in 1,000,000');
    terminal.write('a line that is long\n');
    expect(writes).toEqual([`${CLEAR}in 1,0…`, `${CLEAR}a line that is long\nin 1,0…`]);
  });
});
