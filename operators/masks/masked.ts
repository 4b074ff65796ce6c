/**
 * The type of what a mask makes of a value. Strings stay strings, but not these ones: literals become `string`.
 * Numbers, booleans, `null`, `undefined` and dates stay as they are. Instances of classes become plain objects of their
 * fields, what has `toJSON` becomes what that gives, and an `Error` its name, message and own fields. `Other` is what
 * JSON cannot show, such as a `Map`: `never` where it is refused. What TypeScript does not see, accessors among them, it
 * does not know.
 */
export type Masked<T, Other = never> = 0 extends 1 & T
  ? T // any
  : T extends string
    ? string
    : T extends number | boolean | null | undefined | Date
      ? T
      : T extends Refused
        ? Other
        : T extends { toJSON(...args: never): infer Shown }
          ? MaskedShown<T, Shown, Other>
          : T extends Boxed<infer Value>
            ? Value
            : T extends readonly unknown[]
              ? MaskedArray<T, Other>
              : T extends Error
                ? { name: string; message: string } & MaskedFields<Omit<T, keyof Error>, Other>
                : T extends object
                  ? MaskedFields<T, Other>
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
type MaskedShown<T, Shown, Other> = unknown extends Shown
  ? Shown
  : [Shown] extends [T]
    ? MaskedFields<T, Other>
    : Masked<Shown, Other>;

/** `new String('a')` and the like. */
type Boxed<Value extends string | number | boolean> = object & { valueOf(): Value };

/** Arrays apart from tuples, because TypeScript follows a type that holds arrays of itself without end in the latter. */
type MaskedArray<T extends readonly unknown[], Other> = number extends T['length']
  ? T extends unknown[]
    ? Masked<T[number], Other>[]
    : readonly Masked<T[number], Other>[]
  : { [K in keyof T]: Masked<T[K], Other> };

/** Without methods and symbols. */
type MaskedFields<T, Other> = {
  [K in keyof T as K extends symbol ? never : NonNullable<T[K]> extends Method ? never : K]: Masked<
    T[K],
    Other
  >;
};

type Method = (...args: never) => unknown;
