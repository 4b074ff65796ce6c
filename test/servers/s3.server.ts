import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { asyncScheduler } from 'rxjs';
import s3 from '../../plugins/forward/s3.ts';
import { byForm } from '../faults/support/form.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from '../faults/support/trial.ts';
import { contextFor, done, event, events, failure } from '../plugins/forward/http-helpers.ts';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { folderWith, runCommand } from '../support/cli.ts';
import { skipWithout } from './support/start-server.ts';
import { startVersityGw, type VersityGw } from './support/versity-gw.ts';

const KILLS = byForm({ short: 4, long: 10 });
const LINES = byForm({ short: 5000, long: 50_000 });
const ID = '20261126T143000.123Z-one';

skipWithout('versitygw')('s3 to versitygw', () => {
  let server: VersityGw;
  beforeAll(async () => {
    server = await startVersityGw();
  });
  afterAll(() => server.stop());
  let buckets = 0;
  const newBucket = () => {
    const bucket = `bucket-${buckets++}`;
    server.createBucket(bucket);
    return bucket;
  };
  const keys = () => ({ access_key_id: server.accessKey, secret_access_key: server.secretKey });
  const send = (settings: object, batch = events(3), id = ID) => {
    const ctx = contextFor(s3, { endpoint: server.url, ...keys(), ...settings });
    return done(s3.forwardBatch?.({ ctx, events: batch, id }));
  };
  const linesOf = (bucket: string) =>
    [...server.objects(bucket).values()].flatMap((object) =>
      gunzipSync(object).toString().trimEnd().split('\n'),
    );

  it('stores the events of a call as one object, also under a key with unusual characters', async () => {
    const bucket = newBucket();
    const prefix = "a b/é+%&'(1)*!~@=,;/";
    await send({ bucket, prefix });
    expect([...server.objects(bucket).keys()]).toEqual([
      `${prefix}2026/11/26/14/20261126T143000.123Z-one.ndjson.gz`,
    ]);
    expect(linesOf(bucket)).toEqual(events(3).map((one) => JSON.stringify(one)));
  });

  it('takes it for delivered when the server refuses the same call again', async () => {
    const bucket = newBucket();
    await send({ bucket });
    await send({ bucket }, [event(9)]);
    expect(linesOf(bucket)).toHaveLength(3);
  });

  it('signs headers of the configuration', async () => {
    const bucket = newBucket();
    await send({ bucket, headers: { 'x-amz-meta-team': 'web  team', 'x-amz-storage-class': 'STANDARD' } });
    expect(linesOf(bucket)).toHaveLength(3);
  });

  it.each([
    ['XAdminUserNotFound', { access_key_id: 'AKWRONG' }, /check `access_key_id`/],
    ['SignatureDoesNotMatch', { secret_access_key: 'wrong-secret' }, /check `access_key_id`/],
    ['NoSuchBucket', { bucket: 'missing' }, /create the bucket/],
  ])('names the error %s', async (code, settings, hint) => {
    const error = await failure(send({ bucket: newBucket(), ...settings }));
    expect(error).toMatchObject({ fatal: true, permanent: false });
    expect(error.message).toContain(code);
    expect(error.message).toMatch(hint);
    expect(error.message).not.toContain('wrong-secret');
  });

  it('says that the clock is wrong', async () => {
    const now = Date.now();
    jest.spyOn(asyncScheduler, 'now').mockImplementation(() => now - 3_600_000);
    const error = await failure(send({ bucket: newBucket() }));
    jest.restoreAllMocks();
    expect(error.message).toMatch(/RequestTimeTooSkewed.*; the clock of this machine is wrong/);
  });

  const trialWith = (bucket: string, pipeline: string, more = '') =>
    new Trial(
      fileToDisk({
        forwarder: `plugin: s3, endpoint: '${server.url}', bucket: ${bucket}, access_key_id: ${server.accessKey}, secret_access_key: { file: key }, batch: { events: 500, seconds: 0 }${more}`,
        pipeline,
      }),
    );
  const verdictOf = (trial: Trial, bucket: string) => {
    trial.append(
      'out/out.jsonl',
      linesOf(bucket)
        .map((line) => `${line}\n`)
        .join(''),
    );
    return trial.verdict();
  };

  it(`stores each line once with \`exactly_once\`, however often millrace is killed`, async () => {
    const bucket = newBucket();
    const trial = trialWith(bucket, 'exactly_once: true');
    trial.write('key', server.secretKey);
    for (let n = 0; n < KILLS; n++) {
      trial.appendLines('in/a.log', LINES / KILLS);
      const before = server.objects(bucket).size;
      const run = await trial.run();
      const objects = trial.oracle.between(0, 3);
      await trial.until(() => server.objects(bucket).size >= before + objects);
      await kill(run);
    }
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    expect(verdictOf(trial, bucket)).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });

  it('runs examples/s3/archive.yaml, whose second run stores nothing again', async () => {
    await upToDateBuild();
    const bucket = newBucket();
    const env = {
      ...{ APP_LOG: `${ROOT}examples/data/app.log`, S3_BUCKET: bucket, S3_ENDPOINT: server.url },
      ...{ AWS_ACCESS_KEY_ID: server.accessKey, AWS_SECRET_ACCESS_KEY: server.secretKey },
    };
    const example = `${ROOT}examples/s3/archive.yaml`;
    const cwd = folderWith();
    expect(await runCommand(['test', example], { env, cwd })).toMatchObject({ code: 0 });
    for (let run = 0; run < 2; run++) {
      const { code, stderr } = await runCommand(['run', example, '--once', '--state-dir', 'state'], {
        env,
        cwd,
      });
      expect({ code, stderr }).toMatchObject({ code: 0 });
    }
    const log = readFileSync(env.APP_LOG, 'utf8').trimEnd().split('\n');
    expect(linesOf(bucket)).toHaveLength(log.length);
    expect([...server.objects(bucket).keys()]).toEqual([
      expect.stringMatching(
        /^app\/\d{4}\/\d\d\/\d\d\/\d\d\/\d{8}T\d{6}\.\d{3}Z-[\da-f-]{36}-\d+\.ndjson\.gz$/,
      ),
    ]);
  });

  it('stores each line once when the server is killed and starts again, and waits for the right key', async () => {
    const bucket = newBucket();
    const trial = trialWith(bucket, 'max_in_flight: 1000');
    trial.write('key', 'wrong-secret');
    trial.appendLines('in/a.log', LINES);
    const run = await trial.run();
    await run.shows('stderr', /SignatureDoesNotMatch/);
    expect(server.objects(bucket).size).toBe(0);
    trial.write('key', server.secretKey);
    await trial.until(() => server.objects(bucket).size > 0);
    await server.kill();
    trial.appendLines('in/a.log', LINES);
    await server.restart();
    await trial.until(() => linesOf(bucket).length >= 2 * LINES);
    await kill(run, 'SIGTERM');
    expect(run.stderr).not.toMatch(/wrong-secret|secret-of-the-tests/);
    expect(verdictOf(trial, bucket)).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });
});
