import { describe, expect, it } from '@jest/globals';
import { map, NEVER, type ObservableInput, of } from 'rxjs';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import { checkConfig, collect, HostExecConfig } from '../../../plugins/collect/host_exec.ts';
import { defaultHost } from '../../../src/host/standalone-host.ts';
import type { Host, PipelineRunContext } from '../../../src/sdk/context.ts';
import { testContext } from '../../support/context.ts';
import { marbles } from '../../support/marbles.ts';

type Call = Host['call'];

function hostOf(call: Call): Host {
  return { id: 'test', role: 'test', events: () => NEVER, functions: () => ['test.ping'], call };
}

function run(input: object, call: Call, overrides: Partial<PipelineRunContext> = {}) {
  const config = HostExecConfig.parse({ plugin: 'host_exec', ...input });
  return collect({ ctx: testContext(config, { host: hostOf(call), ...overrides }) });
}

const returned = (input: object, result: ObservableInput<unknown>, overrides?: Partial<PipelineRunContext>) =>
  run(input, () => result, overrides).pipe(map(({ data }) => data.ret));

describe('host_exec collector', () => {
  it('has the defaults of the specification', () => {
    expect(HostExecConfig.parse({ plugin: 'host_exec' })).toEqual({
      plugin: 'host_exec',
      interval: 5,
      fn: 'test.ping',
      args: [],
      kwargs: {},
    });
  });

  it('calls with fn, args and kwargs, and emits what comes back as ret', () => {
    marbles(({ expectObservable }) => {
      const call: Call = (...args) => of(args);
      const input = { fn: 'a.b', args: [1, 'x'], kwargs: { k: 2 } };
      expectObservable(run(input, call), '-!').toBe('a', {
        a: { timestamp: '1970-01-01T00:00:00.000Z', data: { ret: ['a.b', [1, 'x'], { k: 2 }] } },
      });
    });
  });

  it('calls at once and then every interval', () => {
    marbles(({ expectObservable }) => {
      const expected = 'a 1999ms a 1999ms a';
      expectObservable(returned({ interval: 2 }, of('a')), '4500ms !').toBe(expected);
    });
  });

  it('never overlaps: a slow call delays the next', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const slow = cold('        ---a|');
      const unsubscription = '   ----------!';
      const expected = '         ---a-----a';
      const subscriptions = ['   ^---!', '------^---!'];
      expectObservable(returned({ interval: 0.003 }, slow), unsubscription).toBe(expected);
      expectSubscriptions(slow.subscriptions).toBe(subscriptions);
    });
  });

  it.each([0, -1])('with an interval of %d calls every millisecond', (interval) => {
    marbles(({ expectObservable }) => {
      expectObservable(returned({ interval }, of('a')), '---!').toBe('aaa');
    });
  });

  it('emits each value of a function that returns several, and null for nothing', () => {
    marbles(({ expectObservable }) => {
      const values = { a: 1, b: null, c: [] };
      expectObservable(returned({}, of(1, undefined, [])), '-!').toBe('(abc)', values);
    });
  });

  it('fails when the call fails, or throws', () => {
    marbles(({ cold, expectObservable }) => {
      expectObservable(returned({}, cold('-#'))).toBe('-#');
      const throwing = () => {
        throw 'error';
      };
      expectObservable(run({}, throwing)).toBe('#');
    });
  });

  it('makes one call and completes in a run that ends', () => {
    marbles(({ cold, expectObservable }) => {
      expectObservable(returned({}, cold('--a|'), { once: true })).toBe('--a|');
    });
  });

  it('makes no call while there is no room', () => {
    let calls = 0;
    marbles(({ cold, expectObservable }) => {
      const demand = new InFlightWindow(1);
      const call = () => {
        demand.take(1);
        return of(`${++calls}`);
      };
      cold('                         -----s').subscribe(() => demand.release(1));
      const unsubscription = '       ---------!';
      const expected = '             1-----2--';
      const rets = run({ interval: 0.002 }, call, { demand }).pipe(map(({ data }) => data.ret));
      expectObservable(rets, unsubscription).toBe(expected);
    });
    expect(calls).toBe(2);
  });

  it('waits for room in a run that ends', () => {
    marbles(({ cold, expectObservable }) => {
      const demand = new InFlightWindow(1);
      demand.take(1);
      cold('            ---s').subscribe(() => demand.release(1));
      const expected = '---(a|)';
      expectObservable(returned({}, of('a'), { once: true, demand })).toBe(expected);
    });
  });

  it('stops the call when its part of the run is over', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const slow = cold(' -----a|');
      const collecting = new AbortController();
      cold('              --a').subscribe(() => collecting.abort());
      const expected = '  --|';
      expectObservable(returned({}, slow, { signal: collecting.signal })).toBe(expected);
      expectSubscriptions(slow.subscriptions).toBe('^-!');
    });
  });

  it('refuses a function that the host does not have', () => {
    const host = defaultHost({});
    const check = (fn: string, given: Host | undefined = host) =>
      checkConfig({ config: HostExecConfig.parse({ plugin: 'host_exec', fn }), host: given });
    expect(check('test.ping')).toEqual([]);
    expect(checkConfig({ config: HostExecConfig.parse({ plugin: 'x', fn: 'y' }), host: undefined })).toEqual(
      [],
    );
    expect(check('status.memifo')).toEqual([
      {
        path: ['fn'],
        message: expect.stringMatching(/^unknown host function `status\.memifo`; there are `test\.ping`, /),
        suggestion: 'status.meminfo',
      },
    ]);
    expect(check('zzz')[0]?.suggestion).toBeUndefined();
  });
});
