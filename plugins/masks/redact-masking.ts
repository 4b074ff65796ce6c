import { closeSync, writeFileSync } from 'node:fs';
import type { Confidence, EntropyRuleOptions, KeyedRule, RedactRule } from '../../operators/index.ts';
import { counted, LruMap } from '../../operators/internal.ts';
import { openToAppendSync } from '../../operators/internal-files.ts';
import { type Finding, type LinesMasker, Redactor } from '../../operators/internal-masks.ts';
import {
  type CollectedEvent,
  type LineEnvelope,
  LineEvents,
  type LineMapping,
  type ParsedEvents,
  type PipelineRunContext,
  type RowMapping,
} from '../../src/sdk/index.ts';
import { type NamedPack, resolvePackRules } from '../packs/load-packs.ts';
import { TimeLimit } from '../time-limits/bounded-time.ts';
import { linearEngine } from '../time-limits/linear-time.ts';
import { inOneLimit, maskEntries, maskFailure, RowMasking } from './masking.ts';
import { SessionPseudonyms } from './pseudonyms.ts';
import {
  additionsOf,
  type FieldAction,
  fieldMasksOf,
  fieldPolicies,
  keptKeys,
  pseudonymsOf,
  type RedactActions,
  replaceByActions,
} from './redact-actions.ts';

/** The configuration, as far as the mask needs it. */
export interface RedactSettings extends RedactActions {
  readonly packs: readonly NamedPack[];
  readonly disable: readonly string[];
  readonly confidence: Confidence;
  readonly allow: { readonly values: readonly string[]; readonly keys: readonly string[] };
  readonly decode: false | { readonly json: number; readonly percent: boolean; readonly base64: number };
  readonly blocks: false | { readonly lines: number; readonly timeout: number };
  readonly entropy?: EntropyRuleOptions | false | undefined;
  readonly fields: Readonly<Record<string, FieldAction>>;
  readonly audit?: { readonly path: string } | undefined;
  readonly mode: 'mask' | 'report';
  readonly rules: Readonly<Record<string, string | RedactRule>>;
}

export interface CreateRedactorOptions {
  /** Milliseconds. */
  readonly now: () => number;
  readonly onMask: (rule: string, count: number) => void;
  readonly onFind?: ((finding: Finding) => void) | undefined;
  /** Limits the time of each string. */
  readonly limit?: TimeLimit | undefined;
}

/** The rules that settings name: those of the configuration, then those of the packs. */
export function rulesOf({
  rules,
  packs,
  disable,
}: RedactSettings): Record<string, string | RedactRule | KeyedRule> {
  return { ...rules, ...resolvePackRules(packs, disable) };
}

/** The masks that settings stand for. */
export function createRedactor(
  settings: RedactSettings,
  { now, onMask, onFind, limit = new TimeLimit() }: CreateRedactorOptions,
): Redactor {
  const { confidence, allow, decode, blocks, entropy, fields } = settings;
  const isPseudonym = pseudonymsOf(settings);
  const isFieldMask = fieldMasksOf(fields);
  return new Redactor({
    rules: rulesOf(settings),
    confidence,
    entropy,
    allowedValues: allow.values,
    allowedKeys: [...allow.keys, ...keptKeys(fields)],
    fields: fieldPolicies(fields),
    decode: decode === false ? NO_LAYERS : { ...decode, percent: decode.percent ? 1 : 0 },
    blocks: blocks === false ? undefined : { lines: blocks.lines, timeoutMs: blocks.timeout * 1000, now },
    replace: replaceByActions(settings, sessionOfProcess),
    isAddition: additionsOf(settings),
    isMask: (text) => isPseudonym?.(text) === true || isFieldMask?.(text) === true,
    onMask,
    onFind,
    boundTime: limit.bound,
    isLate: limit.isLate,
    linearEngine,
  });
}

let session: SessionPseudonyms | undefined;

/** All processors count together: a pseudonym stands for one value, whichever pipeline it comes from. */
function sessionOfProcess(): SessionPseudonyms {
  session ??= new SessionPseudonyms();
  return session;
}

const NO_LAYERS = { json: 0, percent: 0, base64: 0 };

/** The time, which workers lack: they load no RxJS, whose schedulers it comes from. */
export interface RedactTime {
  /** Returns a clock that counts milliseconds. */
  readonly clock: () => () => number;
  readonly isoNow: () => string;
}

const NO_TIME: RedactTime = { clock: () => () => 0, isoNow: () => '' };

/** Appends findings to a file, as JSON Lines. An event whose findings cannot be written does not pass. */
class AuditFile {
  readonly #path: string;
  readonly #isoNow: () => string;
  /** Undefined from a reopening to the next finding. */
  #descriptor: number | undefined;

  constructor(path: string, ctx: PipelineRunContext<RedactSettings>, isoNow: () => string) {
    this.#path = path;
    this.#isoNow = isoNow;
    this.#descriptor = openToAppendSync(path);
    const reopening = ctx.reopen$?.subscribe(() => this.#close());
    ctx.signal.addEventListener('abort', () => {
      reopening?.unsubscribe();
      this.#close();
    });
  }

  write(findings: readonly Finding[], file: string | undefined): void {
    const timestamp = this.#isoNow();
    const documents = findings.map(({ rule, start, end, field }) =>
      JSON.stringify({ timestamp, rule, file, field, offset: start, length: end - start }),
    );
    this.#descriptor ??= openToAppendSync(this.#path);
    // `writeSync` may write only a part, as to a full disk.
    writeFileSync(this.#descriptor, documents.map((document) => `${document}\n`).join(''));
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** Sources whose mapping is kept: their number has no end, and a mapping is made in no time. */
const MOST_MAPPINGS = 100;

/** The mask of one context. */
class RedactContext {
  readonly #ctx: PipelineRunContext<RedactSettings>;
  readonly #redactor: Redactor;
  readonly #audit: AuditFile | undefined;
  readonly #limit = new TimeLimit();
  /** Findings of the current string or event that are still to be reported. */
  readonly #findings: Finding[] = [];
  /** While it is undefined, what is masked counts. */
  #noticed: boolean | undefined;
  readonly #mappings = new LruMap<string, LineMapping>(MOST_MAPPINGS);
  readonly #rows = new LruMap<string, RowMasking>(MOST_MAPPINGS);
  /** The last lines of which nothing but the lines themselves has to be masked. */
  #spared: Pick<LineEnvelope, 'source' | 'fields'> | undefined;

  constructor(ctx: PipelineRunContext<RedactSettings>, time: RedactTime) {
    this.#ctx = ctx;
    const { audit } = ctx.config;
    this.#audit = audit && new AuditFile(audit.path, ctx, time.isoNow);
    this.#redactor = createRedactor(ctx.config, {
      now: time.clock(),
      onMask: (rule, count) => {
        if (this.#noticed === undefined) ctx.stats.masked(rule, count);
        else this.#noticed = true;
      },
      onFind: this.#isReporting ? (finding) => void this.#findings.push(finding) : undefined,
      limit: this.#limit,
    });
  }

  get #isReporting(): boolean {
    return this.#ctx.config.mode === 'report' || this.#audit !== undefined;
  }

  process(event: CollectedEvent): readonly CollectedEvent[] {
    const source = sourceOf(event);
    const masked = this.#reported(
      source,
      () => this.#redactor.maskEvent(event, source ?? '') as CollectedEvent,
    );
    return this.#ctx.config.mode === 'report' ? [] : [masked];
  }

  /** Undefined where more than the line of an event has to be masked. */
  mappingFor(envelope: LineEnvelope): LineMapping | undefined {
    const { source } = envelope;
    if (this.#redactor.hasPolicy('line') || !this.#spares(envelope)) return undefined;
    let mapping = this.#mappings.get(source);
    if (mapping === undefined) {
      mapping = { map: (line) => this.#mapLine(source, line), many: this.#many(source) };
      this.#mappings.set(source, mapping);
    }
    return mapping;
  }

  /** Undefined where more than the fields of an event has to be masked, or what is found is reported. */
  rowMappingOf(rows: ParsedEvents): RowMapping | undefined {
    if (this.#isReporting || !this.#spares(rows.envelope)) return undefined;
    const { source } = rows.envelope;
    let masking = this.#rows.get(source);
    if (masking === undefined) {
      const mask = this.#redactor.rows(source);
      if (mask === undefined) return undefined;
      const maskEvent = (event: CollectedEvent) => this.process(event)[0] as CollectedEvent;
      masking = new RowMasking(mask, this.#limit, maskEvent);
      this.#rows.set(source, masking);
    }
    return masking.mappingOf(rows);
  }

  #many(source: string): LinesMasker | undefined {
    if (this.#ctx.config.mode === 'report') return undefined;
    return inOneLimit(this.#limit, this.#redactor.many(source));
  }

  #mapLine(source: string, line: string): string | undefined {
    const masked = this.#reported(source, () => this.#redactor.maskLine(source, line));
    return this.#ctx.config.mode === 'report' ? undefined : masked;
  }

  /** Masks, and reports what was found. */
  #reported<T>(file: string | undefined, mask: () => T): T {
    this.#findings.length = 0;
    try {
      const masked = this.#limit.share(mask);
      if (this.#findings.length > 0) this.#report(file);
      return masked;
    } catch (error) {
      throw maskFailure(error);
    }
  }

  #report(file: string | undefined): void {
    if (this.#audit !== undefined) {
      this.#audit.write(this.#findings, file);
      return;
    }
    for (const { rule, start, end } of this.#findings) {
      const place = file === undefined ? '' : ` in ${file}`;
      this.#ctx.logger.info(`found ${rule}${place}: ${counted(end - start, 'character')} at offset ${start}`);
    }
  }

  /** Whether everything but the line of an event stays as it is. */
  #spares(envelope: ParsedEvents['envelope']): boolean {
    const { source, fields } = envelope;
    if (source === this.#spared?.source && fields === this.#spared.fields) return true;
    const [event] = LineEvents.of([''], { backfill: false, ...envelope, isTruncated: false }).events;
    this.#noticed = false;
    try {
      this.#redactor.maskEvent(event as CollectedEvent);
      if (!this.#noticed) this.#spared = envelope;
      return !this.#noticed;
    } catch {
      return false;
    } finally {
      this.#noticed = undefined;
      this.#findings.length = 0;
    }
  }
}

function sourceOf(event: CollectedEvent): string | undefined {
  const source: unknown = (event.data as Record<string, unknown> | undefined)?.source;
  return typeof source === 'string' ? source : undefined;
}

/** The entry functions of `redact`, without its schema: a worker loads no more. Workers have no time. */
export function redacting(time: RedactTime = NO_TIME) {
  return maskEntries((ctx: PipelineRunContext<RedactSettings>) => new RedactContext(ctx, time));
}
