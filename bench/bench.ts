import { AGAINST_NAMES, against } from './against.ts';
import { helpText, parseOptions } from './options.ts';
import { PARTS } from './parts/index.ts';
import { machine } from './report/machine.ts';
import { textReport } from './report/text.ts';
import { writeReport } from './report/write.ts';

const names = PARTS.map(({ name }) => name);

// An exit, unlike a signal, lets what runs be stopped and what was written be removed.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const options = parseOptions(process.argv.slice(2), names);
  if (options.help) process.stdout.write(helpText(PARTS, AGAINST_NAMES));
  else if (options.against !== undefined) await compareWith(options.against, options);
  else process.exitCode = await run(options);
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = 2;
}

async function compareWith(
  checkout: string,
  { quick, only }: ReturnType<typeof parseOptions>,
): Promise<void> {
  const progress = (what: string) => process.stderr.write(`${what}\n`);
  const result = await against(checkout, only, { quick, progress });
  process.stdout.write(`${machine(new Date(), 'npm run bench -- --against')}\n`);
  process.stdout.write(`${textReport(`this build against ${checkout}`, result)}\n`);
}

async function run({ quick, only, write, check }: ReturnType<typeof parseOptions>): Promise<number> {
  const where = machine(new Date(), quick ? 'npm run bench -- --quick' : 'npm run bench');
  process.stdout.write(`${where}\n`);
  let missed = 0;
  for (const part of PARTS.filter(({ name }) => only.includes(name))) {
    const progress = (what: string) => process.stderr.write(`${part.name}: ${what}\n`);
    const result = await part.run({ quick, progress });
    process.stdout.write(`${textReport(part.title, result)}\n`);
    if (write) writeReport(part, result, where);
    missed += result.targets.filter(({ isMet }) => !isMet).length;
  }
  return check && missed > 0 ? 1 : 0;
}
