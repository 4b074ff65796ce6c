import { isDeepStrictEqual } from 'node:util';
import type { ChangeableConfig } from '../../config/load-config.ts';
import { jsonSchemaOf } from '../../sdk/checks/apply-schema.ts';
import { isMapping, type Path, valueAt } from '../../sdk/checks/problem.ts';
import { PipelineConfig } from '../../sdk/config.ts';
import { changedConditions, changedExpressions, otherNumbers } from './change-text.ts';

/** One small change of a configuration, which a good test notices. */
export interface Change {
  /** What is changed. */
  readonly path: Path;
  /** In words that go on after the path: `removed`, `5 is 6`. */
  readonly what: string;
  /** The new value; undefined removes it. */
  readonly value: unknown;
  /** Only the order of settings differs, which may mean nothing. */
  readonly isReordered?: boolean;
  /** The pipelines of which the behaviour may differ. */
  readonly pipelines: readonly string[];
}

type Schema = Record<string, unknown> | undefined;

/**
 * What a test does not see: it runs disabled pipelines, and runs processors in one thread. The size of a window is for speed,
 * and few tests have enough events to fill it.
 */
const NOT_TESTED = ['enabled', 'workers', 'max_in_flight'];
const LISTS = ['collect', 'process', 'forward'];

/**
 * Changes of pipelines and of their processors. Collectors and forwarders stay as they are, because a test replaces them.
 *
 * @param pipelines those that are tested
 */
export function changesOf({ sections, config }: ChangeableConfig, pipelines: readonly string[]): Change[] {
  const written = pipelines.flatMap((name) => {
    const pipeline = sections.get('pipelines')?.[name];
    return isMapping(pipeline) ? [{ name, pipeline }] : [];
  });
  const ofPipelines = written.flatMap(({ name, pipeline }) => {
    const path = ['pipelines', name];
    const schema = propertiesOf(jsonSchemaOf(PipelineConfig));
    const settings = Object.keys(pipeline).filter((key) => ![...NOT_TESTED, ...LISTS].includes(key));
    return [
      ...processChanges(pipeline.process, [...path, 'process']),
      ...routeChanges(pipeline.forward, [...path, 'forward']),
      ...settings.flatMap((key) => settingChanges(pipeline[key], [...path, key], schema[key])),
    ].map((change) => ({ ...change, pipelines: [name] }));
  });
  const ofProcessors = Object.entries(sections.get('processors') ?? {}).flatMap(([name, entry]) => {
    const users = written.filter(({ name: pipeline }) => config.pipelines[pipeline]?.process?.includes(name));
    const plugin = config.processors[name]?.loaded_plugin;
    if (users.length === 0 || plugin === undefined || !isMapping(entry)) return [];
    const schema = propertiesOf(jsonSchemaOf(plugin.get_config_schema()));
    return Object.keys(entry)
      .filter((key) => key !== 'plugin')
      .flatMap((key) => settingChanges(entry[key], ['processors', name, key], schema[key]))
      .map((change) => ({ ...change, pipelines: users.map(({ name: pipeline }) => pipeline) }));
  });
  return [...ofPipelines, ...ofProcessors];
}

/** The configuration with a change; undefined if it is not valid then, or means the same. */
export function withChange(source: ChangeableConfig, { path, value, isReordered }: Change) {
  const [section, ...inner] = path as [string, ...(string | number)[]];
  const sections = new Map(source.sections);
  sections.set(section, replaced(sections.get(section), inner, value) as Record<string, unknown>);
  const changed = source.changed(sections);
  // The order of keys makes no difference to this comparison.
  const isSame = isReordered !== true && isDeepStrictEqual(changed, source.config);
  return changed === undefined || isSame ? undefined : changed;
}

/** A copy of a value with another one at a path. */
function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by;
  const inner = replaced(valueAt(value, [step]), rest, by);
  if (Array.isArray(value)) {
    return inner === undefined ? value.toSpliced(Number(step), 1) : value.with(Number(step), inner);
  }
  const entries = Object.entries(value as object);
  return Object.fromEntries(
    entries.flatMap(([key, item]) =>
      key !== String(step) ? [[key, item]] : inner === undefined ? [] : [[key, inner]],
    ),
  );
}

type UnboundChange = Omit<Change, 'pipelines'>;

/** Without each of the processors, and with each two neighbours in the other order. */
function processChanges(process: unknown, path: Path): UnboundChange[] {
  if (typeof process === 'string') {
    return [{ path, what: `the processor \`${process}\` removed`, value: undefined }];
  }
  if (!Array.isArray(process)) return [];
  return process.flatMap((name, index): UnboundChange[] => {
    const next: unknown = process[index + 1];
    const removed = { path: [...path, index], what: `the processor \`${name}\` removed`, value: undefined };
    if (next === undefined) return [removed];
    const swapped = process.with(index, next).with(index + 1, name);
    const what = `\`${name}\` and \`${next}\` in the other order`;
    return [removed, { path, what, value: swapped }];
  });
}

/** Conditions that are changed, or gone. */
function routeChanges(forward: unknown, path: Path): UnboundChange[] {
  if (!Array.isArray(forward)) return [];
  return forward.flatMap((route: unknown, index): UnboundChange[] => {
    if (!isMapping(route) || typeof route.when !== 'string') return [];
    const here = [...path, index];
    return [
      ...changedConditions(route.when).map(({ text, what }) => ({
        path: [...here, 'when'],
        what,
        value: text,
      })),
      { path: here, what: 'the condition `when` removed', value: route.to },
    ];
  });
}

/** A setting that is removed, or has another value, at any depth. */
function settingChanges(value: unknown, path: Path, schema: unknown): UnboundChange[] {
  const known = isMapping(schema) ? schema : undefined;
  if (String(path.at(-1)).startsWith('_') || known?.writeOnly === true) return [];
  const change = (what: string, other: unknown): UnboundChange => ({ path, what, value: other });
  const removed = change('removed', undefined);
  if (Array.isArray(value)) {
    const item = itemsOf(known);
    const inner = value.flatMap((one, index) => settingChanges(one, [...path, index], item));
    if (value.length < 2) return [removed, ...inner.filter(({ value: other }) => other !== undefined)];
    return [...inner, ...reordered(value.map(nameOfItem), value, path, (items) => items)];
  }
  if (isMapping(value)) {
    const properties = propertiesOf(known);
    const entries = Object.entries(value);
    const isFree = entries.some(([key]) => properties[key] === undefined);
    const names = entries.map(([key]) => `\`${key}\``);
    const orders = isFree ? reordered(names, entries, path, Object.fromEntries) : [];
    const changes = entries.flatMap(([key, one]) => {
      const here = [...path, key];
      const property = properties[key] ?? additionalOf(known);
      const inner = settingChanges(one, here, property);
      // Of a free mapping, such as one of rules, each entry counts, whatever it is made of.
      const isEntry = properties[key] === undefined && (isMapping(one) || Array.isArray(one));
      return isEntry ? [{ path: here, what: 'removed', value: undefined }, ...inner] : inner;
    });
    return [...changes, ...orders];
  }
  if (typeof value === 'boolean') return [change(`${value} is ${!value}`, !value)];
  if (typeof value === 'number') {
    return [removed, ...otherNumbers(value).map((other) => change(`${value} is ${other}`, other))];
  }
  if (typeof value !== 'string') return [removed];
  const other = enumOf(known).find((one) => one !== value);
  return [
    removed,
    ...(other === undefined ? [] : [change(`\`${value}\` is \`${other}\``, other)]),
    ...textsOf(known, value).map(({ text, what }) => change(what, text)),
  ];
}

/** Each two neighbours in the other order, such as two rules of a mask. */
function reordered<T>(
  names: readonly string[],
  items: readonly T[],
  path: Path,
  asValue: (items: readonly T[]) => unknown,
): UnboundChange[] {
  return items.slice(1).map((next, index) => ({
    path,
    what: `${names[index]} and ${names[index + 1]} in the other order`,
    value: asValue(items.with(index, next).with(index + 1, items[index] as T)),
    isReordered: true,
  }));
}

const nameOfItem = (item: unknown, index: number) =>
  typeof item === 'string' || typeof item === 'number' ? `\`${item}\`` : `item ${index + 1}`;

function textsOf(schema: Schema, value: string) {
  const formats = alternativesOf(schema).map(({ format }) => format);
  if (formats.includes('regex')) return changedExpressions(value);
  return formats.includes('cel') ? changedConditions(value) : [];
}

/** A schema, or those of a union. */
function alternativesOf(schema: Schema): Record<string, unknown>[] {
  if (schema === undefined) return [];
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? anyOf.filter(isMapping).flatMap(alternativesOf) : [schema];
}

function propertiesOf(schema: Schema): Readonly<Record<string, unknown>> {
  const all = alternativesOf(schema).map(({ properties }) => (isMapping(properties) ? properties : {}));
  return Object.assign({}, ...all) as Record<string, unknown>;
}

const itemsOf = (schema: Schema) => alternativesOf(schema).find(({ items }) => isMapping(items))?.items;
const additionalOf = (schema: Schema) =>
  alternativesOf(schema).find(({ additionalProperties }) => isMapping(additionalProperties))
    ?.additionalProperties;

const enumOf = (schema: Schema): unknown[] =>
  alternativesOf(schema).flatMap((one) => (Array.isArray(one.enum) ? one.enum : []));
