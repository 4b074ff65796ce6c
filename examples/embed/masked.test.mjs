// How such an operator is tested: in virtual time, with marbles, by whatever runs tests. Here: `node --test`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestScheduler } from 'rxjs/testing';
import { masked } from './masked.mjs';

const login = { user: 'ada@example.com', request: { path: '/?password=hunter2', token: 'Zk3vQ9xLw2Tb7RmP' } };
const clean = { user: '<:EMAIL:>', request: { path: '/?password=<:PASSWORD:>', token: '<:TOKEN:>' } };
const plain = { user: 'guest', request: { path: '/' } };
const opaque = { user: 'alan@example.com', request: new Map([['token', 'secret']]) };

test('masks, and drops what it cannot mask', () => {
  /** @type {string[]} */
  const dropped = [];
  new TestScheduler(assert.deepEqual).run(({ cold, expectObservable, flush }) => {
    const events = cold('  -l-o-p-|', { l: login, o: opaque, p: plain });
    const expected = '     -l---p-|';
    const written = events.pipe(masked(({ name }) => dropped.push(name)));
    expectObservable(written).toBe(expected, { l: clean, p: plain });
    flush();
  });
  assert.deepEqual(dropped, ['MaskError']);
});
