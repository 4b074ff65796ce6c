import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { load as parseYaml } from 'js-yaml';
import { firstValueFrom } from 'rxjs';
import { ReloadablePipelines } from '../../src/cli/reloadable-pipelines.ts';
import { RunningRecordings } from '../../src/cli/running-recordings.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { Manager } from '../../src/engine/manager.ts';
import { openState } from '../../src/state/open-state.ts';
import { eventually } from '../support/eventually.ts';
import { recordingLogger } from '../support/pipelines.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { load, run } from '../testing/yaml/helpers.ts';

const temp = tempFolder();
afterEach(() => {
  jest.restoreAllMocks();
});

/** Milliseconds of a recording: so long that it ends only when a test says so. No other timer takes as long. */
const RECORDING_MS = 3_600_123;

/** Returns a function that lets the time of a recording be over. */
function endOfRecording(): () => void {
  const { setInterval } = globalThis;
  let end = () => {};
  jest.spyOn(globalThis, 'setInterval').mockImplementation(((act: () => void, ms: number) => {
    if (ms !== RECORDING_MS) return setInterval(act, ms);
    end = act;
    return undefined;
  }) as never);
  return () => end();
}

/** A running pipeline that delivers a file exactly once, and the answers of its process to `/record`. */
async function exactlyOnce() {
  const [input, output] = [temp('in.log'), temp('out/web.jsonl')];
  const yaml = `
collectors: { log: { plugin: file, paths: [${input}], backfill: true } }
processors: { secrets: { plugin: redact, blocks: false } }
forwarders: { archive: { plugin: disk, path: ${temp('out')}, filename: web.jsonl } }
pipelines: { web: { collect: log, process: secrets, forward: archive, exactly_once: true } }
host_config: {}
`;
  writeFileSync(temp('web.yaml'), yaml);
  writeFileSync(input, 'before\n');
  const logger = recordingLogger();
  const { config, host } = await loadConfig([temp('web.yaml')], { logger });
  const state = await openState(temp('state'), { logger });
  const fleet = new ReloadablePipelines();
  const recordings = new RunningRecordings(fleet, ['web.yaml'], logger);
  const endRecording = endOfRecording();
  const options = { host, logger, state, random: () => 0, observer: recordings.observer };
  fleet.start(new Manager(config, options), ['web']);
  const written = () => (existsSync(output) ? readFileSync(output, 'utf8') : '');
  return {
    yaml,
    output,
    logged: (pattern: RegExp) => logger.lines.some((line) => pattern.test(line)),
    write: (line: string) => appendFileSync(input, `${line}\n`),
    written: (line: string) => written().includes(`"${line}"`),
    count: (line: string) => written().split(`"${line}"`).length - 1,
    record: async () => {
      const { signal } = new AbortController();
      const answer = await recordings.answer({ pipeline: 'web', forMs: RECORDING_MS, forText: '1h', signal });
      return 'text' in answer ? answer.text : answer.error;
    },
    endRecording,
    end: async () => {
      await firstValueFrom(fleet.stop());
      await state.close();
      return written()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).data.line as string);
    },
  };
}

interface Input {
  readonly events: readonly { readonly value: { readonly line: string } }[];
}

/** The lines that a recording has, in all runs of the pipeline. */
function recordedLines(text: string): string[] {
  const { tests } = parseYaml(text) as {
    tests: Record<string, { collect: { log: Input | { runs: Input[] } } }>;
  };
  return Object.values(tests).flatMap(({ collect: { log } }) =>
    ('runs' in log ? log.runs : [log]).flatMap(({ events }) => events.map(({ value }) => value.line)),
  );
}

describe('/record of a running pipeline that delivers exactly once', () => {
  it('has what was collected meanwhile, once, and masked', async () => {
    const pipeline = await exactlyOnce();
    await eventually(() => pipeline.written('before'));
    const answer = pipeline.record();
    await eventually(() => pipeline.logged(/recording web/));
    for (const line of ['a', 'b', 'password=hunter2hunter2', 'b']) pipeline.write(line);
    // The last line is another 'b'.
    await eventually(() => pipeline.count('b') === 2);
    pipeline.endRecording();
    const text = await answer;
    expect(await pipeline.end()).toEqual(['before', 'a', 'b', 'password=<:password:>', 'b']);
    expect(recordedLines(text)).toEqual(['a', 'b', 'password=<:password:>', 'b']);
    const results = await run(await load({ 'web.test.yaml': text, 'web.yaml': pipeline.yaml }));
    expect(results.map(({ findings }) => findings)).toEqual([[]]);
  });

  it('has each event once if a commit fails, and goes on in the next run', async () => {
    const pipeline = await exactlyOnce();
    await eventually(() => pipeline.written('before'));
    const answer = pipeline.record();
    await eventually(() => pipeline.logged(/recording web/));
    const lines: string[] = [];
    const failure = /removed before all that was written to it was committed/;
    // A commit that comes in between leaves nothing to fail on.
    for (let n = 0; !pipeline.logged(failure); n++) {
      const [removed, next] = [`removed ${n}`, `next ${n}`] as const;
      lines.push(removed, next);
      pipeline.write(removed);
      await eventually(() => pipeline.written(removed));
      rmSync(pipeline.output);
      pipeline.write(next);
      await eventually(() => pipeline.written(next));
      await eventually(() => pipeline.logged(failure), 500).catch(() => {});
    }
    pipeline.write('last');
    await eventually(() => pipeline.written('last'));
    pipeline.endRecording();
    const text = await answer;
    await pipeline.end();
    // What came before the recording comes again if it was not committed.
    expect(recordedLines(text).filter((line) => line !== 'before')).toEqual([...lines, 'last']);
    // The run that failed, and the one after it. How the replay ends depends on which calls had ended when the recording did.
    expect(text).toMatch(/fails_at: [\s\S]*- events:/);
    const results = await run(await load({ 'web.test.yaml': text, 'web.yaml': pipeline.yaml }));
    expect(results.map(({ findings }) => findings)).toEqual([[]]);
  });
});
