import { jsonSchemaText } from '../../config/json-schema.ts';
import { ExitCode } from '../exit-code.ts';

/** `millrace schema` */
export function schema(): number {
  process.stdout.write(`${jsonSchemaText().trimEnd()}\n`);
  return ExitCode.ok;
}
