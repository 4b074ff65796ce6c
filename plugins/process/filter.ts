import * as cel from '@marcbachmann/cel-js';
import { defineProcessor, ProcessConfigBase } from '../../src/sdk/index.ts';
import { filtering } from '../expressions/filtering.ts';
import { expression } from '../expressions/schema.ts';

const condition = () => expression(cel, { expected: 'a valid condition', types: ['bool', 'dyn'] });

const schema = ProcessConfigBase.extend({
  keep: condition().optional().describe('Keep the events for which this CEL expression is true.'),
  drop: condition().optional().describe('Drop the events for which this CEL expression is true.'),
}).check((ctx) => {
  const { keep, drop } = ctx.value;
  if ((keep === undefined) !== (drop === undefined)) return;
  const found = keep === undefined ? 'neither `keep` nor `drop`' : 'both `keep` and `drop`';
  const message = `found ${found}; expected exactly one of them`;
  ctx.issues.push({ code: 'custom', input: ctx.value, message });
});

export default defineProcessor({
  description: 'Keeps or drops events by a condition over their fields, a CEL expression.',
  example: `
errors-only:
  plugin: filter
  keep: data.line.contains("ERROR") || data.line.startsWith("FATAL")
`,
  exampleEvents: [
    { given: { line: 'ERROR no space left' }, gives: [{ line: 'ERROR no space left' }] },
    { given: { line: 'INFO ready' }, gives: [] },
  ],
  schema,
  shownSettings: { keep: '', drop: '' },
  traits: { pure: true, filters: true },
  ...filtering(cel),
});
