import type { LinesMasker } from '../lines-masker.ts';
import type { Field, FieldFate, MaskFields } from '../mask-strings.ts';
import { leniency, type Masker, maskFieldsOf, maskValue } from '../mask-strings.ts';
import type { Masked } from '../masked.ts';
import type { RowFields, RowMask } from '../row-mask.ts';
import type { Span } from '../search/finder.ts';
import { BlockTracker, LINE } from './block-tracker.ts';
import { encodingsIn } from './decode.ts';
import { FieldMasker, pathOf } from './field-masker.ts';
import type { Finding } from './find-values.ts';
import { applyToJson } from './json-fields.ts';
import { hasItems, type IsKept, isArrayInJson, JsonWithItems } from './list-items.ts';
import { LineContext } from './open-lines.ts';
import { StreamMasker } from './stream-masker.ts';
import { type RedactorOptions, TextMasker } from './text-masker.ts';

/** Lines of a block, and others that have to be masked one by one. */
class NotOrdinary extends Error {}
const NOT_ORDINARY = /* @__PURE__ */ new NotOrdinary();

/** Masks strings, events and lines by redaction rules. */
export class Redactor {
  readonly #texts: TextMasker;
  readonly #options: RedactorOptions;
  readonly #tracker: BlockTracker | undefined;
  /** Undefined where lines may come in any order. */
  readonly #lines: LineContext | undefined;
  readonly #fields: FieldMasker;
  readonly #ofEvents: MaskFields;
  readonly #ofValues: MaskFields;
  readonly #fieldsWithBlocks: MaskFields;
  /** The field that is masked, if findings are told. */
  #field: Field | undefined;

  /** @throws as `compileRedactRules` does */
  constructor(given: RedactorOptions) {
    const { blocks, onFind } = given;
    const options =
      onFind === undefined
        ? given
        : { ...given, onFind: (finding: Finding) => onFind(this.#placed(finding)) };
    this.#options = options;
    this.#texts = new TextMasker(options);
    this.#lines = blocks && new LineContext(this.#texts);
    this.#tracker = blocks && new BlockTracker(this.#texts.blocks, blocks, blocks.now);
    const fields = new FieldMasker(this.#texts, options);
    this.#fields = fields;
    this.#ofEvents = this.#withPolicies(fields, true);
    this.#ofValues = this.#withPolicies(fields, false);
    this.#fieldsWithBlocks = this.#withPolicies(this.#masksOfBlocks(fields), true);
  }

  /** Fields whose lines may be in a block. */
  #masksOfBlocks(fields: FieldMasker): MaskFields {
    return {
      number: fields.number,
      key: fields.key,
      namesIn: fields.namesIn,
      text: (text, key, within, previous, names) => {
        if (fields.isAllowed(key, names)) return text;
        const isOrdinary = this.#tracker?.isOrdinary(text) !== false;
        const masked = isOrdinary ? undefined : this.#maskBlock(pathOf(key, within), text);
        return masked ?? fields.text(text, key, within, previous, names);
      },
    };
  }

  /** Masks of fields, with the policies of fields and the place of what is found. The same masks if there is nothing of that. */
  #withPolicies(fields: MaskFields, isEvent: boolean): MaskFields {
    const { fields: policies, onFind } = this.#options;
    if (policies === undefined && onFind === undefined) return fields;
    const { text, number, key, namesIn } = fields;
    return {
      text: (value, name, within, previous, names) => {
        const masked = this.#at(name, within, () => this.#applyToJson(value));
        return this.#at(name, within, () => text(masked, name, within, previous, names));
      },
      number:
        number &&
        ((value, name, within, names) => this.#at(name, within, () => number(value, name, within, names))),
      key,
      namesIn,
      policyOf: policies && ((name, within) => policies.of(name, within, isEvent)),
      apply: (fate, value, field) =>
        this.#at(field.key, field.within, () => this.#apply(fate, value, { start: 0, end: lengthOf(value) })),
    };
  }

  /** Notes which field is masked, for what is found in it. */
  #at<T>(key: string | undefined, within: Field | undefined, mask: () => T): T {
    if (this.#options.onFind === undefined) return mask();
    this.#field = key === undefined ? undefined : { key, within };
    try {
      return mask();
    } finally {
      this.#field = undefined;
    }
  }

  #placed(finding: Finding): Finding {
    const field = this.#field && this.#fields.shownPath(this.#field);
    return field === undefined ? finding : { ...finding, field };
  }

  /** Applies the policy of a field. Returns what replaces its value, if something does. */
  #apply(fate: FieldFate, value: unknown, place: Span): string | undefined {
    if (fate.action === 'keep') return undefined;
    const replacement = fate.action === 'replace' ? fate.replace(value) : undefined;
    // The field was masked before.
    if (replacement === value) return replacement;
    this.#texts.count(fate.rule, 1);
    this.#options.onFind?.({ rule: fate.rule, start: place.start, end: place.end });
    return replacement;
  }

  /** Applies the policies of fields to the JSON in a text: its fields are named from its start. */
  #applyToJson(text: string): string {
    const { fields: policies } = this.#options;
    if (policies === undefined) return text;
    return applyToJson(
      text,
      (key, within) => policies.of(key, within, false),
      (fate, value, place) => this.#apply(fate, value, place),
    );
  }

  /** A string or an event, with every string in it masked. */
  readonly mask: Masker = ((value: string | object) =>
    typeof value === 'object' && value !== null ? this.maskEvent(value) : this.maskText(value)) as Masker;

  /**
   * @param source where the event comes from, if blocks are followed through the events of a source
   * @throws MaskError for what cannot be masked
   */
  maskEvent<T extends object>(event: T, source?: string): Masked<T> {
    const tracker = source === undefined ? undefined : this.#tracker;
    tracker?.startEvent(source as string);
    const fields: MaskFields = tracker === undefined ? this.#ofEvents : this.#fieldsWithBlocks;
    const masked = maskFieldsOf(event, fields);
    this.#maskItems(masked, true);
    return masked;
  }

  /** Which fields no mask changes. Undefined if there are none. */
  #isKept(isEvent: boolean): IsKept | undefined {
    const { fields: policies, allowedKeys } = this.#options;
    if (policies === undefined && allowedKeys.length === 0) return undefined;
    return ({ key, within }) =>
      this.#fields.isAllowed(key) || policies?.of(key, within, isEvent)?.action === 'keep';
  }

  maskText(text: string): string {
    return this.#texts.mask(this.#applyToJson(text));
  }

  /**
   * A value of any kind as JSON shows it. `replace` is what stands in place of a part that cannot be masked, as a string of more
   * than `maxLength` characters.
   */
  maskValue(value: unknown, replace: (what: string) => string, maxLength: number): unknown {
    const { number, key, namesIn, policyOf, apply } = this.#ofValues;
    const text: MaskFields['text'] = (...field) => {
      if (field[0].length > maxLength) return replace('a string');
      try {
        return this.#ofValues.text(...field);
      } catch {
        return replace('a string');
      }
    };
    const masked = maskValue(value, {
      text,
      number,
      key,
      namesIn,
      policyOf,
      apply,
      lenient: leniency(replace),
    });
    try {
      this.#maskItems(masked, false, maxLength, () => replace('an item of an array'));
      return masked;
    } catch {
      return replace('an object');
    }
  }

  /**
   * Masks items of arrays by what stands beside the arrays. It changes the value in place, whose fields have been masked before.
   *
   * @param replace what replaces an item if the JSON of the value is longer than `maxLength`
   */
  #maskItems(
    value: unknown,
    isEvent: boolean,
    maxLength = Number.POSITIVE_INFINITY,
    replace = () => '',
  ): void {
    if (!hasItems(value)) return;
    const texts = this.#texts;
    const items = new JsonWithItems(value, this.#isKept(isEvent));
    if (items.json.length > maxLength) items.replaceAll(replace);
    else if (!texts.isClean(items.json)) {
      items.replace(texts.find(items.json), (found, rule, { text, field }) => {
        texts.count(rule, 1);
        this.#at(field?.key, field?.within, () =>
          this.#options.onFind?.({ rule, start: 0, end: text.length }),
        );
        return this.#options.replace(found, rule);
      });
    }
  }

  /** Whether {@link maskValue} leaves what a JSON document has, as far as that can be told without a look at its fields. */
  leavesJson(json: string): boolean {
    return this.#options.fields === undefined && this.#texts.leavesJson(json);
  }

  /** The next line of a source, which may be in a block. */
  maskLine(source: string, written: string): string {
    return this.#maskLine(source, written, this.#lines, this.#tracker);
  }

  #maskLine(
    source: string,
    written: string,
    lines: LineContext | undefined,
    tracker: BlockTracker | undefined,
  ): string {
    return this.#at('line', undefined, () => {
      const line = this.#applyToJson(written);
      tracker?.startEvent(source);
      const block = this.#maskBlock(LINE, line, tracker);
      if (block === undefined)
        return lines?.mask(source, line, this.#options.onFind) ?? this.#texts.mask(line);
      lines?.close(source);
      return block;
    });
  }

  /** Whether a field of an event has a policy: it is not masked as its text is. */
  hasPolicy(key: string): boolean {
    return this.#options.fields?.of(key, { key: 'data', within: undefined }, true) !== undefined;
  }

  /**
   * Shows the first lines of a source, before they are masked: what starts with other base64 than a key is not masked as the
   * rest of one.
   *
   * @returns false if it takes more lines to tell
   */
  startSource(source: string, lines: string): boolean {
    return this.#tracker?.startSource(source, lines) !== false;
  }

  /**
   * Masks a text that arrives in pieces, by the blocks and keys of its lines.
   *
   * @param mostHeld characters
   */
  stream(mostHeld: number): StreamMasker {
    const texts = this.#texts;
    const lines = new LineContext(texts);
    const tracker = new BlockTracker(texts.blocks, LIMITS_OF_STREAMS, () => 0);
    // A text starts with its first line, and not in a block.
    tracker.startSource(STREAM, '.\n');
    const hasPolicies = this.#options.fields !== undefined;
    return new StreamMasker(
      {
        longestLiteral: texts.longestLiteral,
        mayChange: (text) => texts.mayChange(text),
        isOpen: () => lines.isOpen(STREAM) || tracker.mayBeInBlock(STREAM),
        maskLine: (line) => this.#maskLine(STREAM, line, lines, tracker),
        pass: (line) => lines.passLine(STREAM, line),
        find: (text) => texts.findShown(text),
        replace: this.#options.replace,
        count: (rule) => texts.count(rule, 1),
        findsWords: texts.rules.hasCommon(),
        wholeLines: hasPolicies || texts.needsWholeLines,
        isOneDocument: (line) => hasPolicies && /^\s*[[{]/.test(line),
      },
      mostHeld,
    );
  }

  /** A text that belongs to a block; undefined for others. */
  #maskBlock(path: string, text: string, tracker = this.#tracker): string | undefined {
    const parts = tracker?.next(path, text);
    return parts && this.#texts.maskParts(parts, this.#options.onFind);
  }

  /** {@link maskLine} for many lines of a source at a time. It throws for lines that have to be masked one by one. */
  many(source: string): LinesMasker | undefined {
    if (this.#options.fields !== undefined) return undefined;
    return this.#many(
      (lines) => this.#lines?.isOpen(source) !== true && this.#tracker?.areOrdinary(source, lines) !== false,
      this.#lines && (() => this.#lines?.pass(source)),
    );
  }

  /** {@link maskEvent} for many events of a source at a time. Undefined if findings are reported. */
  rows(source: string): RowMask | undefined {
    if (this.#options.fields !== undefined) return undefined;
    const tracker = this.#tracker;
    const lines = this.#many(
      (fields) =>
        tracker?.areOrdinaryFields(source, typeof fields === 'string' ? fields : asText(fields)) !== false,
    );
    if (lines === undefined || this.#options.onFind !== undefined) return undefined;
    const { fateOf, keepsNumber, keepsKey, namesIn } = this.#fields;
    const isKept = this.#isKept(true);
    return {
      // In a block, a field is masked although its own text is harmless.
      takes: (row) => sourceOf(row) === source && tracker?.mayBeInBlock(source) !== true,
      text: (text, key, within, previous, names) => {
        if (text.length > lines.maxLineLength || isArrayInJson(text)) return 'alone';
        // It stays as it is: rows are masked only if the name of their file is left.
        const isSource = key === 'source' && within?.within === undefined && text === source;
        const fate = isSource ? 'kept' : fateOf(text, key, within, previous, names);
        return fate === 'kept' && tracker?.hasMarker(text) === true ? 'alone' : fate;
      },
      keepsNumber,
      keepsKey,
      namesIn,
      leavesItems: (rows) => {
        const json = rows.map((row) => new JsonWithItems({ data: row }, isKept).json);
        if (json.some(({ length }) => length > lines.maxLineLength)) return false;
        return this.#texts.leaves(json.join('\n'), (text) => lines.map(text));
      },
      lines,
    };
  }

  /**
   * @param areOrdinary whether no block has one of these lines
   * @param pass called for lines that have been masked, if a value may be in the line after its key
   */
  #many(areOrdinary: (lines: string | Uint8Array) => boolean, pass?: () => void): LinesMasker | undefined {
    const many = this.#texts.rules.many();
    if (many === undefined) return undefined;
    const { map, mapBytes, maxLength, maxLineLength } = many;
    const { onFind } = this.#options;
    return {
      maxLength,
      maxLineLength,
      map: (lines) => {
        if (lines.includes(NUL) || !areOrdinary(lines) || !this.#isLeftAsShown(lines, map))
          throw NOT_ORDINARY;
        return this.#texts.counted(() => {
          const masked = this.#withValuesInSameLine(pass, () => map(lines));
          const result = this.#texts.decodes ? this.#texts.maskEncoded(masked) : masked;
          if (onFind !== undefined && result !== lines) throw NOT_ORDINARY;
          return result;
        });
      },
      mapBytes:
        onFind !== undefined || mapBytes === undefined
          ? undefined
          : (lines, into) => {
              if (lines.includes(0) || this.#texts.renderer.bytesNeed(lines)) return -1;
              if (!areOrdinary(lines)) return -1;
              let written = -1;
              this.#texts.counted(() => {
                written = this.#withValuesInSameLine(pass, () => mapBytes(lines, into));
                if (written === -1 || !this.#texts.decodes) return written !== -1;
                const bytes = into.subarray(0, written);
                const encodings = encodingsIn(bytes, this.#options.decode);
                if (encodings.length === 0) return true;
                const masked = asText(bytes);
                const decoded = this.#texts.maskEncoded(masked, encodings);
                if (decoded !== masked) written = writeAscii(decoded, into);
                return written !== -1;
              });
              return written;
            },
    };
  }

  /** Whether nothing is found in what a reader sees of lines, where that is something else than what is written. */
  #isLeftAsShown(lines: string, map: (lines: string) => string): boolean {
    const { renderer } = this.#texts;
    if (!renderer.needs(lines)) return true;
    this.#texts.takeOpenKey();
    const isLeft = this.#texts.leaves(renderer.render(lines), (shown) => this.#texts.maskEncoded(map(shown)));
    return this.#texts.takeOpenKey() === undefined && isLeft;
  }

  /** Masks lines, and throws if the value of a key in one of them may be in the next one. */
  #withValuesInSameLine<T>(pass: (() => void) | undefined, mask: () => T): T {
    if (pass === undefined) return mask();
    this.#texts.takeOpenKey();
    const masked = mask();
    if (this.#texts.takeOpenKey() !== undefined) throw NOT_ORDINARY;
    pass();
    return masked;
  }
}

/** The source of the lines of a stream. */
const STREAM = '';
/** A stream has no gaps in its lines, so its blocks may be longer than those of logs. */
const LIMITS_OF_STREAMS = { lines: 2000, timeoutMs: 1 };

/** Of a value as a policy sees it, in characters. */
const lengthOf = (value: unknown): number => (typeof value === 'object' ? 0 : String(value).length);

/** Events that come from no file have none. */
const sourceOf = ({ source }: RowFields) => (typeof source === 'string' ? source : '');
const NUL = '\0';
const decoder = /* @__PURE__ */ new TextDecoder();
const encoder = /* @__PURE__ */ new TextEncoder();
const asText = (bytes: Uint8Array): string => decoder.decode(bytes);

/** -1 without room. */
function writeAscii(text: string, into: Uint8Array): number {
  if (text.length > into.length) return -1;
  return encoder.encodeInto(text, into).written;
}
