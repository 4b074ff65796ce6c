export { checkPlugin } from './check-plugin.ts';
export { conformanceTests, type TestFunctions } from './conformance-tests.ts';
export { type CheckResult, ConformanceError, type ConformanceReport, reportText } from './report.ts';
export type { ConformanceOptions } from './subject.ts';
