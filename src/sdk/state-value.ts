import { PluginError } from './errors.ts';
import { kindOf } from './plugin-returns.ts';
import { truncate } from './printable.ts';

/** Deeper values are taken for cycles. */
const DEEPEST = 200;

/**
 * Checks what a plugin sets in `ctx.state`. After a restart, JSON would give something else in place of what it refuses;
 * and one value that has no JSON form would keep those of all collectors from being written.
 *
 * @throws PluginError, permanent and fatal: it is the plugin that has to be corrected.
 */
export function checkStateValue(key: unknown, value: unknown): void {
  if (typeof key !== 'string') {
    throw refused(`a key is ${kindOf(key)}; expected a string`);
  }
  const found = changedByJson(value, 0);
  if (found === undefined) return;
  const how = typeof value === 'object' && isContainer(value) ? 'contains' : 'is';
  throw refused(
    `the value of \`${truncate(key)}\` ${how} ${found}; expected null, booleans, finite numbers, strings, and ` +
      'arrays and plain objects of these, which JSON keeps as they are',
  );
}

function refused(problem: string): PluginError {
  return Object.assign(new PluginError(`ctx.state.set: ${problem}`, { permanent: true }), { fatal: true });
}

/** The kind of the first part of a value that JSON does not keep as it is. Where that is could quote an event. */
function changedByJson(value: unknown, depth: number): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : String(value);
  if (typeof value !== 'object') return kindOf(value);
  if (!isContainer(value)) return classOf(value);
  if (depth > DEEPEST) return `values nested more than ${DEEPEST} deep, or itself`;
  // `Array.from` makes `undefined` of the holes of an array, which JSON does not keep either.
  for (const member of Array.isArray(value) ? Array.from(value) : Object.values(value)) {
    const found = changedByJson(member, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isContainer(value: object | null): value is object {
  return value !== null && (Array.isArray(value) || isPlain(value));
}

/** Also one of another realm, such as a test's. */
function isPlain(value: object): boolean {
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function classOf(value: object): string {
  const name: unknown = value.constructor?.name;
  if (name === 'Object') return 'an object with `toJSON`';
  return typeof name === 'string' && /^[A-Z][A-Za-z0-9]{0,40}$/.test(name)
    ? `a ${name}`
    : 'an object of a class';
}
