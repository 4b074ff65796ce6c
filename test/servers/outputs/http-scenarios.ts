import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { byForm } from '../../faults/support/form.ts';
import { FLAWLESS, kill } from '../../faults/support/trial.ts';
import { CertificateAuthority } from '../support/certificates.ts';
import {
  answer,
  type Behaviour,
  HostileHttp,
  inTurn,
  type KeyPair,
  pass,
  reset,
  resetInAnswer,
  silence,
  silenceAfterwards,
} from '../support/hostile-http.ts';
import type { Restartable } from '../support/restartable.ts';
import { serverFolder, skipWithout } from '../support/start-server.ts';
import { type HttpConnector, RIGHT_TOKEN } from './connector.ts';
import { BATCH, Delivery, type DeliveryOptions, IN_FLIGHT, LINES } from './delivery.ts';

const KILLS = byForm({ short: 4, long: 10 });
/** How often a fault happens in a run. */
const TIMES = byForm({ short: 3, long: 20 });
/** Part of a line that a server refuses. */
const REFUSED = 'refuse-this';
const SECRET = /key_[0-9a-f]{8}-/;

/** Every `n`th request meets a fault, the first one included, until all faults have happened. */
function between(n: number, faults: readonly Behaviour[]): Behaviour {
  let requests = 0;
  return (exchange) => {
    const fault = requests % n === 0 ? faults[requests / n] : undefined;
    requests++;
    return (fault ?? pass)(exchange);
  };
}

const times = (count: number, ...behaviours: readonly Behaviour[]): Behaviour[] =>
  Array.from({ length: count }, () => behaviours).flat();

/** Faults between millrace and the real server of a forwarder over HTTP, each as a process. */
export function testOverHttp<S extends Restartable>(connector: HttpConnector<S>): void {
  const { name, recognises, exactlyOnce, endsBy, refusedLength, credentials, refusal } = connector;
  // All forwarders over HTTP have the same client: in the short form, its faults happen to one of them alone.
  const itsClient = byForm({ short: name === 'http', long: true }) ? it : () => {};

  skipWithout('openssl', ...connector.needs)(`${name}: nothing is lost and nothing leaks`, () => {
    let server: S;
    let proxies: HostileHttp[] = [];
    let secretsSent = 0;
    beforeAll(async () => {
      server = await connector.start();
    });
    afterEach(async () => {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
      proxies = [];
    });

    async function proxyWith(behaviour: Behaviour, keys?: KeyPair): Promise<HostileHttp> {
      const proxy = await HostileHttp.before(connector.url(server), keys);
      proxies.push(proxy);
      proxy.behaviour = behaviour;
      secretsSent = 0;
      proxy.watch = ({ body }) => {
        if (SECRET.test(body.toString('latin1'))) secretsSent++;
      };
      return proxy;
    }
    const deliver = (title: string, options: DeliveryOptions) =>
      Delivery.prepare(connector, server, title, options);

    /**
     * Every line once, those of the dead letter there. `repeats` lines more after lost answers, unless the server recognises
     * them, and `afterKills` more after a process was killed.
     */
    async function expectAll(
      delivery: Delivery,
      {
        repeats = 0,
        afterKills = 0,
        dead = [],
      }: {
        readonly repeats?: number;
        readonly afterKills?: number;
        readonly dead?: readonly number[];
      } = {},
    ): Promise<void> {
      const { doubled, ...verdict } = await delivery.verdict();
      expect({ ...verdict, doubled: 0 }).toEqual(FLAWLESS);
      expect(delivery.dead).toEqual(dead);
      expect(doubled).toBeLessThanOrEqual((recognises ? 0 : repeats) + afterKills);
      expect(secretsSent).toBe(0);
    }

    /** Runs to the end of the file while requests meet faults. */
    async function expectDelivered(
      title: string,
      behaviour: Behaviour,
      { repeats = 0, fields }: { readonly repeats?: number; readonly fields?: string } = {},
    ): Promise<HostileHttp> {
      const proxy = await proxyWith(behaviour);
      const delivery = await deliver(title, { at: proxy.url, ...(fields !== undefined && { fields }) });
      const { code, stderr } = await delivery.trial.runOnce();
      expect({ code, stderr }).toMatchObject({ code: 0 });
      await expectAll(delivery, { repeats });
      return proxy;
    }

    itsClient('connections that are refused', async () => {
      const proxy = await proxyWith(pass);
      await proxy.close();
      const delivery = await deliver('refused connections', { at: proxy.url });
      const child = await delivery.trial.run('--once');
      await child.shows('stderr', /ECONNREFUSED/);
      await proxy.open();
      expect(await child.ended()).toMatchObject({ code: 0 });
      await expectAll(delivery);
    });

    itsClient('connections that are reset before the server has the request', async () => {
      await expectDelivered('resets before the server', between(2, times(TIMES, reset)));
    });

    it('connections that are reset in the middle of an answer', async () => {
      const faults = times(TIMES, resetInAnswer);
      await expectDelivered('resets in mid-answer', between(2, faults), { repeats: TIMES * BATCH });
    });

    itsClient('a server that accepts and never answers, whether it has the request or not', async () => {
      const faults = times(byForm({ short: 1, long: 5 }), silence, silenceAfterwards);
      await expectDelivered('no answer', between(2, faults), {
        repeats: (faults.length / 2) * BATCH,
        fields: 'timeout: 2',
      });
    });

    it('429 and 503, with and without Retry-After, which is waited for', async () => {
      const asked: number[] = [];
      const refuse =
        (status: number, headers: Readonly<Record<string, string>> = {}): Behaviour =>
        (exchange) => {
          asked.push(performance.now());
          return answer(status, headers)(exchange);
        };
      const then: Behaviour = (exchange) => {
        asked.push(performance.now());
        return pass(exchange);
      };
      const wait = { 'retry-after': '2' };
      await expectDelivered(
        '429 and 503',
        inTurn(refuse(429, wait), then, refuse(503, wait), then, refuse(429), then, refuse(503), pass),
      );
      for (const refused of [0, 2]) {
        expect((asked[refused + 1] as number) - (asked[refused] as number)).toBeGreaterThan(1900);
      }
    });

    it('413 above a size: batches are split, and a line that is too large goes to the dead letter alone', async () => {
      const proxy = await proxyWith((exchange) =>
        exchange.body.length > 30_000 ? answer(413)(exchange) : exchange.pass(),
      );
      const delivery = await deliver('413', { at: proxy.url });
      const large = delivery.appendLong(40_000);
      const { code, stderr } = await delivery.trial.runOnce();
      expect({ code, stderr }).toMatchObject({ code: 0 });
      await expectAll(delivery, { dead: [large] });
    });

    if (refusedLength !== undefined) {
      it('lines that the server refuses among others go to the dead letter alone', async () => {
        const proxy = await proxyWith(pass);
        const delivery = await deliver('refused items', { at: proxy.url });
        const refused = [delivery.appendLong(refusedLength)];
        delivery.trial.appendLines('in/a.log', 1000);
        refused.push(delivery.appendLong(refusedLength));
        const { code, stderr } = await delivery.trial.runOnce();
        expect({ code, stderr }).toMatchObject({ code: 0 });
        await expectAll(delivery, { dead: refused });
      });
    }

    if (refusal !== undefined) {
      it('events that the server refuses among others go to the dead letter alone', async () => {
        const proxy = await proxyWith((exchange) =>
          (exchange.body.includes(REFUSED) ? refusal : pass)(exchange),
        );
        const delivery = await deliver('refused items', { at: proxy.url });
        const refused = [delivery.appendWith(REFUSED)];
        delivery.trial.appendLines('in/a.log', 1000);
        refused.push(delivery.appendWith(REFUSED));
        const { code, stderr } = await delivery.trial.runOnce();
        expect({ code, stderr }).toMatchObject({ code: 0 });
        await expectAll(delivery, { dead: refused });
      });
    }

    itsClient('a certificate that has expired: nothing is sent before a valid one is there', async () => {
      const folder = serverFolder('certificates');
      const authority = new CertificateAuthority(folder, 'authority');
      authority.issue('expired', -1);
      authority.issue('valid');
      const read = (file: string) => fs.readFileSync(`${folder}/${file}`, 'utf8');
      const keys = (file: string) => ({ cert: read(`${file}.pem`), key: read(`${file}.key`) });
      const proxy = await proxyWith(pass, keys('expired'));
      const delivery = await deliver('expired certificate', {
        at: proxy.url,
        fields: `tls: { ca: { file: '${folder}/authority.pem' } }`,
      });
      const child = await delivery.trial.run('--once');
      await child.shows('stderr', /certificate has expired/);
      expect(proxy.requests).toBe(0);
      proxy.present(keys('valid'));
      expect(await child.ended()).toMatchObject({ code: 0 });
      await expectAll(delivery);
    });

    it('wrong credentials, and later right ones, without a restart', async () => {
      const proxy = await proxyWith((exchange) =>
        credentials.isRight?.(exchange.headers) !== false ? exchange.pass() : answer(401)(exchange),
      );
      const delivery = await deliver('wrong credentials', {
        at: proxy.url,
        fields: credentials.fields ?? '',
      });
      const { trial } = delivery;
      const right = connector.token ?? RIGHT_TOKEN;
      trial.write('token', 'wrong-token\n');
      const child = await trial.run();
      await child.shows('stderr', /answered 40[13]/);
      await delay(byForm({ short: 1000, long: 60_000 }));
      trial.write('token', `${right}\n`);
      await child.shows('stderr', /works again after/);
      expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
      expect(child.stderr).not.toContain('wrong-token');
      expect(child.stderr).not.toContain(right);
      expect(await trial.runOnce()).toMatchObject({ code: 0 });
      await expectAll(delivery);
    });

    it(`the server ends by ${endsBy} and starts again`, async () => {
      let restarted: Promise<void> | undefined;
      const proxy = await proxyWith(async (exchange) => {
        if (proxy.requests === 8) {
          await (endsBy === 'SIGKILL' ? server.kill() : server.stop());
          restarted = delay(1000).then(() => server.restart());
        }
        await exchange.pass();
      });
      const delivery = await deliver('server restarts', { at: proxy.url });
      const { code, stderr } = await delivery.trial.runOnce();
      await restarted;
      expect({ code, stderr }).toMatchObject({ code: 0 });
      await expectAll(delivery, { repeats: IN_FLIGHT });
    });

    it.each([
      { how: '', pipeline: '', repeats: KILLS * IN_FLIGHT },
      ...(exactlyOnce ? [{ how: ' with exactly_once', pipeline: 'exactly_once: true', repeats: 0 }] : []),
    ])(`millrace is killed ${KILLS} times$how`, async ({ how, pipeline, repeats }) => {
      const proxy = await proxyWith(async (exchange) => {
        await delay(10);
        await exchange.pass();
      });
      const delivery = await deliver(`kill -9${how}`, { at: proxy.url, pipeline, lines: LINES / 5 });
      const { trial } = delivery;
      for (let n = 0; n < KILLS; n++) {
        trial.appendLines('in/a.log', LINES / 5);
        const before = proxy.requests;
        const child = await trial.run();
        const requests = trial.oracle.between(0, 3);
        await trial.until(() => proxy.requests >= before + requests);
        await delay(trial.oracle.between(0, 20));
        await kill(child);
      }
      expect(await trial.runOnce()).toMatchObject({ code: 0 });
      await expectAll(delivery, { afterKills: repeats });
    });
  });
}
