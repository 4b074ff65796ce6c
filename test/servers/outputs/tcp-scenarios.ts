import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { byForm } from '../../faults/support/form.ts';
import { FLAWLESS, kill } from '../../faults/support/trial.ts';
import { CertificateAuthority } from '../support/certificates.ts';
import type { KeyPair } from '../support/hostile-http.ts';
import { HostileTcp, type TcpFault } from '../support/hostile-tcp.ts';
import type { Restartable } from '../support/restartable.ts';
import { serverFolder, skipWithout } from '../support/start-server.ts';
import type { TcpConnector } from './connector.ts';
import { Delivery, type DeliveryOptions, IN_FLIGHT, LINES } from './delivery.ts';

const KILLS = byForm({ short: 4, long: 10 });
/** How often a fault happens in a run. */
const TIMES = byForm({ short: 3, long: 20 });
const SECRET = /key_[0-9a-f]{8}-/;

/** Faults between millrace and the real server of a forwarder with a protocol of its own, each as a process. */
export function testOverTcp<S extends Restartable>(connector: TcpConnector<S>): void {
  const { name, recognises, exactlyOnce, endsBy, refusedLength, trust } = connector;

  skipWithout('openssl', ...connector.needs)(`${name}: nothing is lost and nothing leaks`, () => {
    let server: S;
    let proxies: HostileTcp[] = [];
    let secretsSent = 0;
    beforeAll(async () => {
      server = await connector.start();
    });
    afterEach(async () => {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
      proxies = [];
    });

    async function proxyWith(
      fault: (answer: number) => TcpFault | undefined = () => undefined,
      keys?: KeyPair,
    ): Promise<HostileTcp> {
      const proxy = await HostileTcp.before(connector.port(server), {
        ...(keys !== undefined && { keys }),
        ...(connector.proxyPort !== undefined && { port: connector.proxyPort(server) }),
      });
      proxies.push(proxy);
      proxy.fault = fault;
      secretsSent = 0;
      proxy.watch = (data) => {
        if (SECRET.test(data.toString('latin1'))) secretsSent++;
      };
      return proxy;
    }
    const deliver = (title: string, { port }: HostileTcp, options: Partial<DeliveryOptions> = {}) =>
      Delivery.prepare(connector, server, title, { at: `127.0.0.1:${port}`, fields: '', ...options });

    /** Every line once, those of the dead letter there, and at most `repeats` lines more. */
    async function expectAll(
      delivery: Delivery,
      { repeats = 0, dead = [] }: { readonly repeats?: number; readonly dead?: readonly number[] } = {},
    ): Promise<void> {
      const { doubled, ...verdict } = await delivery.verdict();
      expect({ ...verdict, doubled: 0 }).toEqual(FLAWLESS);
      expect(delivery.dead).toEqual(dead);
      expect(doubled).toBeLessThanOrEqual(repeats);
      expect(secretsSent).toBe(0);
    }

    /** Runs to the end of the file. */
    async function expectDelivered(delivery: Delivery, expected: Parameters<typeof expectAll>[1]) {
      const { code, stderr } = await delivery.trial.runOnce();
      expect({ code, stderr }).toMatchObject({ code: 0 });
      await expectAll(delivery, expected);
    }

    it('connections that are refused', async () => {
      const proxy = await proxyWith();
      await proxy.close();
      const delivery = await deliver('refused connections', proxy);
      const child = await delivery.trial.run('--once');
      await child.shows('stderr', /trying again|cannot connect|refused/);
      await proxy.open();
      expect(await child.ended()).toMatchObject({ code: 0 });
      await expectAll(delivery);
    });

    it('connections that are reset when the server answers', async () => {
      let resets = 0;
      const proxy = await proxyWith((answer) => {
        if (answer % 4 !== 3 || resets === TIMES) return undefined;
        resets++;
        return 'reset';
      });
      const delivery = await deliver('resets of answers', proxy);
      await expectDelivered(delivery, { repeats: recognises ? 0 : TIMES * IN_FLIGHT });
      expect(resets).toBe(TIMES);
    });

    const { timeout } = connector;
    const itWaits = timeout === undefined ? it.skip : it;
    itWaits('a server that accepts and never answers', async () => {
      let silences = 0;
      const proxy = await proxyWith((answer) => {
        if (answer !== 0 && answer !== 6) return undefined;
        silences++;
        return 'silence';
      });
      const delivery = await deliver('no answer', proxy, { fields: timeout ?? '' });
      await expectDelivered(delivery, { repeats: recognises ? 0 : 2 * IN_FLIGHT });
      expect(silences).toBe(2);
    });

    if (refusedLength !== undefined) {
      it('lines that the server refuses among others go to the dead letter alone', async () => {
        const delivery = await deliver('refused items', await proxyWith());
        const dead = [delivery.appendLong(refusedLength)];
        delivery.trial.appendLines('in/a.log', 1000);
        dead.push(delivery.appendLong(refusedLength));
        await expectDelivered(delivery, { dead });
      });
    }

    if (trust !== undefined) {
      it('a certificate that has expired: nothing is sent before a valid one is there', async () => {
        const folder = serverFolder('certificates');
        const authority = new CertificateAuthority(folder, 'authority');
        authority.issue('expired', -1);
        authority.issue('valid');
        const read = (file: string) => fs.readFileSync(`${folder}/${file}`, 'utf8');
        const keys = (file: string) => ({ cert: read(`${file}.pem`), key: read(`${file}.key`) });
        const proxy = await proxyWith(undefined, keys('expired'));
        let bytes = 0;
        const { watch } = proxy;
        proxy.watch = (data) => {
          bytes += data.length;
          watch(data);
        };
        const delivery = await deliver('expired certificate', proxy, {
          fields: trust(`${folder}/authority.pem`),
        });
        const child = await delivery.trial.run('--once');
        await child.shows('stderr', /certificate has expired/i);
        expect(bytes).toBe(0);
        proxy.present(keys('valid'));
        expect(await child.ended()).toMatchObject({ code: 0 });
        await expectAll(delivery);
      });
    }

    it(`the server ends by ${endsBy} and starts again`, async () => {
      let restarted: Promise<void> | undefined;
      const proxy = await proxyWith((answer) => {
        if (answer === 8) {
          const ended = endsBy === 'SIGKILL' ? server.kill() : server.stop();
          restarted = ended.then(() => delay(1000)).then(() => server.restart());
        }
        return undefined;
      });
      const delivery = await deliver('server restarts', proxy);
      const { code, stderr } = await delivery.trial.runOnce();
      await restarted;
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(restarted).toBeDefined();
      await expectAll(delivery, { repeats: recognises ? 0 : IN_FLIGHT });
    });

    it.each([
      { how: '', pipeline: '', repeats: KILLS * IN_FLIGHT },
      ...(exactlyOnce ? [{ how: ' with exactly_once', pipeline: 'exactly_once: true', repeats: 0 }] : []),
    ])(`millrace is killed ${KILLS} times$how`, async ({ how, pipeline, repeats }) => {
      let answers = 0;
      const proxy = await proxyWith(() => {
        answers++;
        return undefined;
      });
      const delivery = await deliver(`kill -9${how}`, proxy, { pipeline, lines: LINES / 5 });
      const { trial } = delivery;
      for (let n = 0; n < KILLS; n++) {
        trial.appendLines('in/a.log', LINES / 5);
        const before = answers;
        const child = await trial.run();
        const more = trial.oracle.between(0, 12);
        const patience = performance.now() + 2000;
        await trial.until(() => answers >= before + more || performance.now() > patience);
        await kill(child);
      }
      expect(await trial.runOnce()).toMatchObject({ code: 0 });
      await expectAll(delivery, { repeats });
    });
  });
}
