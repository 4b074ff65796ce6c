// Loaded into a run of millrace with `--import`: counts the calls of its functions while the run is in full swing, with
// V8's coverage, and writes the calls of each source file as JSON.
import { readFileSync, writeFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sizeOf } from '../measure/run-command.ts';
import { ROOT } from '../places.ts';

const { COUNT_CALLS_WHILE: output = '', COUNT_CALLS_TO: result = '' } = process.env;
/** Sizes of the output between which the calls are counted. */
const FROM = 50e6;
const TO = 150e6;
const POLL_MS = 5;

const session = new Session();
session.connect();
await session.post('Profiler.enable');
let isCounting = false;
const polling = setInterval(async () => {
  const size = sizeOf(output);
  if (!isCounting && size >= FROM) {
    isCounting = true;
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  } else if (isCounting && size >= TO) {
    clearInterval(polling);
    const coverage = await session.post('Profiler.takePreciseCoverage');
    writeFileSync(result, JSON.stringify(Object.fromEntries(mostCalls(coverage.result))));
  }
}, POLL_MS);
polling.unref();

/** How often the function was called that was called most, for each source file. */
function mostCalls(scripts: readonly Profiler.ScriptCoverage[]): Map<string, number> {
  const most = new Map<string, number>();
  const built = pathToFileURL(`${ROOT}/dist/`).href;
  for (const { url, functions } of scripts.filter((script) => script.url.startsWith(built))) {
    const sourceAt = sourceFinder(new URL(url));
    for (const { ranges } of functions) {
      const [{ startOffset, count } = { startOffset: 0, count: 0 }] = ranges;
      const source = startOffset > 0 && count > 0 ? sourceAt(startOffset) : undefined;
      if (source !== undefined) most.set(source, Math.max(count, most.get(source) ?? 0));
    }
  }
  return most;
}

/** Finds the source file of an offset in a file of the build. */
function sourceFinder(file: URL): (offset: number) => string | undefined {
  const text = readFileSync(file, 'utf8');
  const map = new SourceMap(JSON.parse(readFileSync(`${file.pathname}.map`, 'utf8')));
  return (offset) => {
    const lines = text.slice(0, offset).split('\n');
    const entry = map.findEntry(lines.length - 1, lines.at(-1)?.length ?? 0);
    return 'originalSource' in entry
      ? relative(ROOT, resolve(dirname(file.pathname), entry.originalSource))
      : undefined;
  };
}
