import type { TestResult } from './yaml/test-suite.ts';

/** What XML 1.0 has no way to write: control characters, halves of surrogate pairs, and two more. */
const NO_XML = /(?![\t\n\r])[\p{Cc}\p{Cs}\ufffe\uffff]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/**
 * The results of tests as JUnit XML, as CI servers read it: a `testsuite` for each file, a `testcase` for each
 * test, with the real time that it took.
 */
export function junitXml(results: readonly TestResult[], textOf: (result: TestResult) => string): string {
  const files = [...new Set(results.map(({ file }) => file))];
  const suites = files.map((file) => {
    const cases = results.filter((result) => result.file === file);
    return [
      `  <testsuite ${totals(cases)} name="${escaped(file)}">`,
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
  const head = `    <testcase name="${escaped(name)}" classname="${escaped(file)}" file="${escaped(place.file)}" line="${place.line}" time="${seconds(realMs)}"`;
  if (isPassed) return `${head}/>`;
  const message = escaped(findings[0]?.message ?? '');
  const text = escaped(textOf(result)).replaceAll('&#10;', '\n');
  return `${head}>\n      <failure message="${message}">${text}</failure>\n    </testcase>`;
}

function totals(results: readonly TestResult[]): string {
  const failures = results.filter(({ isPassed }) => !isPassed).length;
  const time = results.reduce((sum, { realMs }) => sum + realMs, 0);
  return `tests="${results.length}" failures="${failures}" errors="0" time="${seconds(time)}"`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** Text that is safe in an attribute and between tags. What XML cannot hold becomes U+FFFD. */
function escaped(text: string): string {
  return text.replace(NO_XML, '\ufffd').replace(/[&<>"\t\n\r]/g, (char) => ENTITIES[char] as string);
}
