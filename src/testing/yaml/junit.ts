import { escapeXml } from '../../graph/xml.ts';
import type { TestResult } from './test-suite.ts';

/**
 * The results of tests as JUnit XML, as CI servers read it: a `testsuite` for each file, a `testcase` for each
 * test, with the real time that it took.
 */
export function junitXml(results: readonly TestResult[], textOf: (result: TestResult) => string): string {
  const files = [...new Set(results.map(({ file }) => file))];
  const suites = files.map((file) => {
    const cases = results.filter((result) => result.file === file);
    return [
      `  <testsuite ${totals(cases)} name="${escapeXml(file)}">`,
      ...cases.map((one) => caseXml(one, textOf)),
      '  </testsuite>',
    ];
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totals(results)} name="millrace test">`,
    ...suites.flat(),
    '</testsuites>',
    '',
  ].join('\n');
}

function caseXml(result: TestResult, textOf: (result: TestResult) => string): string {
  const { file, name, place, isPassed, findings, realMs } = result;
  const head = `    <testcase name="${escapeXml(name)}" classname="${escapeXml(file)}" file="${escapeXml(place.file)}" line="${place.line}" time="${seconds(realMs)}"`;
  if (isPassed) return `${head}/>`;
  const [first] = findings;
  const message = escapeXml(first?.message ?? '');
  // The last key of the path: `marbles`, `count`, `state` …
  const type = escapeXml(first?.path.match(/[a-z_]+(?=(?:\[\d+\])*$)/)?.[0] ?? first?.kind ?? 'assertion');
  const element = isNotRun(result) ? 'error' : 'failure';
  const text = escapeXml(textOf(result)).replaceAll('&#10;', '\n');
  return `${head}>\n      <${element} message="${message}" type="${type}">${text}</${element}>\n    </testcase>`;
}

function isNotRun({ findings }: TestResult): boolean {
  return findings[0]?.kind === 'not_run';
}

function totals(results: readonly TestResult[]): string {
  const errors = results.filter(isNotRun).length;
  const failures = results.filter(({ isPassed }) => !isPassed).length - errors;
  const time = results.reduce((sum, { realMs }) => sum + realMs, 0);
  return `tests="${results.length}" failures="${failures}" errors="${errors}" time="${seconds(time)}"`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
