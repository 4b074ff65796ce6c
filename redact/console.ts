// Masks what a program prints by `console`, on request.

import { formatWithOptions, type InspectOptions, inspect } from 'node:util';
import { checkRedactor } from './check-redactor.ts';
import type { Redactor } from './create-redactor.ts';
import { unmaskable } from './errors.ts';
import { tokensOf } from './formatted.ts';
import { type Extent, inspectable } from './inspectable.ts';

/** `inspect` shows two levels, and four for `%o`. */
const SHOWN: Extent = { depth: 4, hidden: false };
/** What `inspect` makes of a value, or a format with its values. Other methods call these. */
const PRINTING = ['log', 'info', 'debug', 'dirxml', 'warn', 'error', 'trace'] as const;
const TO_STDERR: readonly string[] = ['warn', 'error', 'trace'];

/**
 * Patches the methods of a console, so that they print what they would print, masked: values by their fields, and then the text.
 * The report of the redactor counts what is masked. What a program writes to `process.stdout` itself is not masked.
 *
 * @param target the global console by default
 * @returns a function that restores the methods.
 *
 * @example
 * const printed = [];
 * const target = { ...console, log: (text) => printed.push(text) };
 * const restore = patchConsole(createRedactor(), target);
 * target.log('user %s', 'ada', { password: 'Tr0ub4dor&3' });
 * restore();
 * printed; // ["user ada { password: '<:password:>' }"]
 */
export function patchConsole(redactor: Redactor, target: Console = console): () => void {
  checkRedactor('patchConsole', redactor);
  // Methods of a class are not own properties of its instances.
  const originals = Object.fromEntries(
    [...PRINTING, 'dir', 'table'].map((name) => [name, Reflect.get(target, name)]),
  );
  const patched: Partial<Record<keyof Console, unknown>> = {};
  const own = (name: keyof Console) => originals[name] as (...args: unknown[]) => void;
  for (const name of PRINTING) {
    const stream = TO_STDERR.includes(name) ? '_stderr' : '_stdout';
    patched[name] = (...args: unknown[]) => {
      if (args.length === 0) own(name).call(target);
      else
        own(name).call(
          target,
          redactedText(redactor, () =>
            formatWithOptions({ colors: hasColors(target, stream) }, ...redactedArguments(redactor, args)),
          ),
        );
    };
  }
  patched.dir = (value: unknown, given?: InspectOptions | null) => {
    const options = given ?? {};
    const depth = options.depth === null ? Number.POSITIVE_INFINITY : (options.depth ?? SHOWN.depth);
    const extent = { depth, hidden: options.showHidden === true };
    const shown = { customInspect: false, colors: hasColors(target, '_stdout'), ...options };
    own('log').call(
      target,
      redactedText(redactor, () => inspect(inspectable(redactor, value, extent), shown)),
    );
  };
  patched.table = (data: unknown, ...others: unknown[]) => {
    let shown: unknown;
    try {
      shown = inspectable(redactor, data, SHOWN);
    } catch {
      shown = unmaskable(redactor);
    }
    own('table').call(target, shown, ...others);
  };
  Object.assign(target, patched);
  return () => {
    for (const [name, method] of Object.entries(patched)) {
      const key = name as keyof Console;
      if (target[key] === method) Object.assign(target, { [key]: originals[key] });
    }
  };
}

/** A program that prints must not fail because of what it prints. */
function redactedText(redactor: Redactor, write: () => string): string {
  try {
    return redactor.redact(write());
  } catch {
    return unmaskable(redactor);
  }
}

function redactedArguments(redactor: Redactor, [first, ...others]: readonly unknown[]): readonly unknown[] {
  const tokens = typeof first === 'string' ? tokensOf(first) : [];
  const shown = (value: unknown, token?: string) => {
    // JSON shows all levels, and `%o` what is hidden.
    if (token === '%j') return redactor.redact(value);
    return inspectable(redactor, value, token === '%o' ? { ...SHOWN, hidden: true } : SHOWN);
  };
  return [shown(first), ...others.map((value, index) => shown(value, tokens[index]))];
}

function hasColors(target: Console, name: '_stdout' | '_stderr'): boolean {
  const stream = (target as unknown as Record<string, NodeJS.WriteStream | undefined>)[name];
  return stream?.isTTY === true && (stream.getColorDepth?.() ?? 1) > 2;
}
