import { MillraceError } from '../../sdk/errors.ts';
import type { PluginKind } from '../../sdk/plugin.ts';

/** How one check ended. */
export interface CheckResult {
  readonly name: string;
  /** `skipped`: there was nothing to look at; `note` says why. */
  readonly outcome: 'passed' | 'skipped' | 'failed';
  /** What to change, or why the check was skipped. */
  readonly note?: string;
}

/** How all checks of a plugin ended. */
export interface ConformanceReport {
  readonly kind: PluginKind;
  readonly checks: readonly CheckResult[];
}

const MARKS: Readonly<Record<CheckResult['outcome'], string>> = { passed: '✓', skipped: '–', failed: '✗' };

/** A plugin does not keep the contract. The message has every check that failed, and what to change. */
export class ConformanceError extends MillraceError {
  readonly report: ConformanceReport;

  constructor(report: ConformanceReport) {
    const { kind, checks } = report;
    const failed = checks.filter(({ outcome }) => outcome === 'failed');
    const head = `this ${kind} plugin fails ${failed.length} of ${checks.length} checks:`;
    super('MILLRACE_CONFORMANCE', `${head}\n\n${failed.map(resultText).join('\n')}`);
    this.name = 'ConformanceError';
    this.report = report;
  }
}

/**
 * A report as lines of text, one for each check, and what there is to say of it.
 *
 * @example
 * reportText({ kind: 'process', checks: [{ name: 'time', outcome: 'skipped', note: 'it works in real time' }] });
 * // '– time\n    it works in real time\n'
 */
export function reportText({ checks }: ConformanceReport): string {
  return checks.map((check) => `${resultText(check)}\n`).join('');
}

function resultText({ outcome, name, note }: CheckResult): string {
  return `${MARKS[outcome]} ${name}${note === undefined ? '' : `\n    ${note}`}`;
}
