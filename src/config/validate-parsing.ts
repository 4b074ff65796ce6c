import type { PipelineConfig } from '../sdk/config.ts';
import type { ConfigProblem } from '../sdk/plugin.ts';
import type { ValidEntries } from './build-config.ts';

/** A processor of a pipeline, with what it declares for its configuration. */
interface Step {
  readonly name: string;
  readonly isMask: boolean;
  readonly wholeLines: string | undefined;
  readonly joins: string | undefined;
  readonly makesNumbers: boolean;
  /** Whether it is a mask that leaves numbers as they are, and the rule of it that would find a secret in one. */
  readonly isOfStrings: boolean;
  readonly overlooked: () => string | undefined;
  readonly readsPairs: boolean;
  readonly breaksPairs: () => string | undefined;
}

/**
 * Warns of masks that miss a secret because of what another processor makes of a line: long lines of containers that
 * nothing joins, and numbers of JSON that is parsed before masks of strings. Also of masks that break what is parsed
 * after them. Only enabled pipelines count.
 */
export function validateParsing(
  pipelines: ReadonlyMap<string, PipelineConfig>,
  entries: ValidEntries,
): ConfigProblem[] {
  return [...pipelines].flatMap(([pipeline, { enabled, process = [] }]) => {
    if (!enabled) return [];
    const steps = process.map((name) => stepOf(name, entries));
    return steps.flatMap((step, index): ConfigProblem[] => {
      const message = cutLines(steps, index) ?? overlookedNumbers(steps, index) ?? brokenPairs(steps, index);
      const path = ['pipelines', pipeline, 'process', index];
      return message === undefined
        ? []
        : [{ path, severity: 'warning', message: `\`${step.name}\` ${message}` }];
    });
  });
}

function stepOf(name: string, { process }: ValidEntries): Step {
  const entry = process.get(name);
  const plugin = entry?.plugin;
  const args = { config: entry?.data as never };
  return {
    name,
    isMask: plugin?.traits?.masks === true,
    wholeLines: plugin?.expectsWholeLines?.(args),
    joins: plugin?.joinsParts?.(args),
    makesNumbers: plugin?.makesNumbers?.(args) === true,
    isOfStrings: plugin?.overlooksNumbers !== undefined,
    overlooked: () => plugin?.overlooksNumbers?.(args),
    readsPairs: plugin?.readsPairs?.(args) === true,
    breaksPairs: () => plugin?.breaksPairs?.(args),
  };
}

function cutLines(steps: readonly Step[], index: number): string | undefined {
  const format = steps[index]?.wholeLines;
  const firstMask = steps.findIndex(({ isMask }) => isMask);
  if (format === undefined || firstMask === -1) return undefined;
  const isJoined = steps.slice(0, Math.min(index, firstMask)).some(({ joins }) => joins === format);
  if (isJoined) return undefined;
  return (
    `reads lines of the format ${format}, of which long ones come in parts: a secret that lies across two parts is not ` +
    `masked; put a \`multiline\` processor with \`preset: ${format}\` in front of \`${steps[Math.min(index, firstMask)]?.name}\``
  );
}

function overlookedNumbers(steps: readonly Step[], index: number): string | undefined {
  if (steps[index]?.makesNumbers !== true) return undefined;
  const masks = steps.flatMap((step, at) => (step.isMask ? [{ ...step, at }] : []));
  if (masks.some(({ at, isOfStrings }) => at < index || !isOfStrings)) return undefined;
  const mask = masks.find(({ overlooked }) => overlooked() !== undefined);
  if (mask === undefined) return undefined;
  return (
    `makes numbers and keys of fields, which \`${mask.name}\` leaves as they are: what its rule ${mask.overlooked()} would ` +
    `find in the line is delivered if it is a number in JSON; put \`${mask.name}\` in front of it, or use \`redact\`, which ` +
    'masks numbers and keys as well'
  );
}

function brokenPairs(steps: readonly Step[], index: number): string | undefined {
  const step = steps[index];
  if (step?.readsPairs !== true) return undefined;
  const mask = steps.slice(0, index).find(({ breaksPairs }) => breaksPairs() !== undefined);
  if (mask === undefined) return undefined;
  return (
    `reads keys and values of logfmt, and \`${mask.name}\` in front of it can replace a key, a quote or a space with a value ` +
    `(${mask.breaksPairs()}), so that fields are lost; put \`${step.name}\` in front of \`${mask.name}\``
  );
}
