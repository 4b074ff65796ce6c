import { defer, type Observable, of } from 'rxjs';
import { MillraceError } from '../sdk/errors.ts';
import { nearest } from '../sdk/nearest.ts';
import { isAsync, toObservable } from '../sdk/plugin-result.ts';
import type { HostFunction } from './functions/host-function.ts';

/** The functions of a host, by name. */
export class FunctionTable {
  readonly #functions: ReadonlyMap<string, HostFunction>;

  constructor(functions: readonly HostFunction[]) {
    this.#functions = new Map(functions.map((fn) => [fn.name, fn]));
  }

  names(): readonly string[] {
    return [...this.#functions.keys()];
  }

  /**
   * Calls a function on subscription and emits its result: each value of an Observable or async iterable, one
   * value of anything else.
   *
   * Errors: MillraceError `MILLRACE_HOST_FUNCTION` for an unknown name; what the function throws.
   */
  call(
    name: string,
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
  ): Observable<unknown> {
    return defer(() => {
      const result = this.#find(name).call(args, kwargs);
      return isAsync(result) ? toObservable(result) : of(result);
    });
  }

  #find(name: string): HostFunction {
    const found = this.#functions.get(name);
    if (found !== undefined) return found;
    const near = nearest(name, this.names());
    const hint = near === undefined ? `known: ${this.names().join(', ')}` : `did you mean ${near}?`;
    throw new MillraceError('MILLRACE_HOST_FUNCTION', `there is no host function ${name}; ${hint}`);
  }
}
