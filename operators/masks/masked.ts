/**
 * The type of what a mask makes of a value. Strings stay strings, but not these ones: literals become `string`.
 * Numbers, booleans, `null`, `undefined` and dates stay as they are. Instances of classes become plain objects of their
 * fields, what has `toJSON` becomes what that gives, and an `Error` its name, message and own fields. `never` is what
 * cannot be masked: it is refused when it comes. What TypeScript does not see, accessors among them, it does not know.
 */
export type Masked<T> = 0 extends 1 & T
  ? T // any
  : T extends string
    ? string
    : T extends number | boolean | null | undefined | Date
      ? T
      : T extends Refused
        ? never
        : T extends { toJSON(...args: never): infer Shown }
          ? MaskedShown<T, Shown>
          : T extends Boxed<infer Value>
            ? Value
            : T extends readonly unknown[]
              ? MaskedArray<T>
              : T extends Error
                ? { name: string; message: string } & MaskedFields<Omit<T, keyof Error>>
                : T extends object
                  ? MaskedFields<T>
                  : T;

type Refused =
  | bigint
  | symbol
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ArrayBufferView
  | ArrayBuffer
  | SharedArrayBuffer
  | Method;

/** A `toJSON` that gives the object itself shows its fields. */
type MaskedShown<T, Shown> = unknown extends Shown
  ? Shown
  : [Shown] extends [T]
    ? MaskedFields<T>
    : Masked<Shown>;

/** `new String('a')` and the like. */
type Boxed<Value extends string | number | boolean> = object & { valueOf(): Value };

/** Arrays apart from tuples, because TypeScript follows a type that holds arrays of itself without end in the latter. */
type MaskedArray<T extends readonly unknown[]> = number extends T['length']
  ? T extends unknown[]
    ? Masked<T[number]>[]
    : readonly Masked<T[number]>[]
  : { [K in keyof T]: Masked<T[K]> };

/** Without methods and symbols. */
type MaskedFields<T> = {
  [K in keyof T as K extends symbol ? never : NonNullable<T[K]> extends Method ? never : K]: Masked<T[K]>;
};

type Method = (...args: never) => unknown;
