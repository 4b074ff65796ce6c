import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { byForm } from '../../faults/support/form.ts';
import { FLAWLESS, kill } from '../../faults/support/trial.ts';
import { CertificateAuthority } from '../support/certificates.ts';
import type { KeyPair } from '../support/hostile-http.ts';
import { HostileTcp, type HostileTcpOptions, SILENCE, type TcpFault } from '../support/hostile-tcp.ts';
import type { Restartable } from '../support/restartable.ts';
import { serverFolder, skipWithout } from '../support/start-server.ts';
import type { TcpConnector } from './connector.ts';
import { Delivery, type DeliveryOptions, IN_FLIGHT, LINES } from './delivery.ts';

const KILLS = byForm({ short: 4, long: 10 });
/** How often a fault happens in a run. */
const TIMES = byForm({ short: 3, long: 20 });
const SECRET = /key_[0-9a-f]{8}-/;

/** An authority of its own. */
function certificates() {
  const folder = serverFolder('certificates');
  const authority = new CertificateAuthority(folder, 'authority');
  const read = (file: string) => fs.readFileSync(`${folder}/${file}`, 'utf8');
  const issue = (name: string, days?: number): KeyPair => {
    authority.issue(name, days);
    return { cert: read(`${name}.pem`), key: read(`${name}.key`) };
  };
  return { folder, read, issue };
}

/** Faults between millrace and the real server of a forwarder with a protocol of its own, each as a process. */
export function testOverTcp<S extends Restartable>(connector: TcpConnector<S>): void {
  const { name, recognises, exactlyOnce, endsBy, refusedLength, mayBeSecure, acknowledges, authority } =
    connector;

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
      fault: (piece: number) => TcpFault | undefined = () => undefined,
      options: Pick<HostileTcpOptions, 'keys' | 'clientCa'> = {},
    ): Promise<HostileTcp> {
      const proxy = await HostileTcp.before(connector.port(server), {
        ...options,
        port: connector.proxyPort?.(server),
        // Without keys of its own, it passes on what both sides have encrypted.
        isServerSecure: authority !== undefined && options.keys !== undefined,
        faultsOf: acknowledges ? 'server' : 'client',
      });
      proxies.push(proxy);
      proxy.fault = fault;
      secretsSent = 0;
      proxy.watch = (data) => {
        if (SECRET.test(data.toString('latin1'))) secretsSent++;
      };
      return proxy;
    }
    const trusting = (file: string, more = '') => `tls: { ca: { file: '${file}' }${more} },`;
    const ownFields = () => (authority === undefined ? '' : trusting(authority(server)));
    const deliver = (title: string, { port }: HostileTcp, options: Partial<DeliveryOptions> = {}) =>
      Delivery.prepare(connector, server, title, {
        ...{ at: `127.0.0.1:${port}`, ...options },
        fields: options.fields ?? ownFields(),
      });

    interface Expected {
      /** Lines that may come again. */
      readonly repeats?: number;
      /**
       * Whether lines may be lost, if the server does not say what it has. No number of them is sure: what is sent before the end
       * of a connection is noticed counts as delivered.
       */
      readonly mayLose?: boolean;
      readonly dead?: readonly number[];
    }

    /** Every line once, those of the dead letter there, apart from what is allowed. */
    async function expectAll(
      delivery: Delivery,
      { repeats = 0, mayLose = false, dead = [] }: Expected = {},
    ): Promise<void> {
      await Promise.all(proxies.map((proxy) => proxy.drained()));
      const { doubled, lost, ...verdict } = await delivery.verdict();
      expect({ ...verdict, doubled: 0, lost: 0 }).toEqual(FLAWLESS);
      expect(delivery.dead).toEqual(dead);
      expect(doubled).toBeLessThanOrEqual(repeats);
      if (acknowledges || !mayLose) expect(lost).toBe(0);
      expect(secretsSent).toBe(0);
    }

    /** Runs to the end of the file. */
    async function expectDelivered(delivery: Delivery, expected: Expected) {
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

    it('connections that are reset when something is sent', async () => {
      let resets = 0;
      const proxy = await proxyWith((piece) => {
        if (piece % 4 !== 3 || resets === TIMES) return undefined;
        resets++;
        return 'reset';
      });
      const delivery = await deliver('resets', proxy);
      await expectDelivered(delivery, {
        repeats: recognises ? 0 : TIMES * IN_FLIGHT,
        mayLose: true,
      });
      expect(resets).toBe(TIMES);
    });

    const { timeout } = connector;
    const itWaits = timeout === undefined ? it.skip : it;
    if (!acknowledges) {
      it('a server that accepts and does not read for a while', async () => {
        const proxy = await proxyWith((piece) => (piece === 8 ? { silentFor: 3000 } : undefined));
        await expectDelivered(await deliver('does not read', proxy), {});
      });

      it('a server that does not read, and then resets the connection', async () => {
        const fault = { silentFor: 100, isResetAfterwards: true };
        const proxy = await proxyWith((piece) => (piece === 8 ? fault : undefined));
        const expected = { repeats: IN_FLIGHT, mayLose: true };
        await expectDelivered(await deliver('does not read, then reset', proxy), expected);
      });
    }

    itWaits('a server that accepts and never answers', async () => {
      let silences = 0;
      const proxy = await proxyWith((answer) => {
        if (answer !== 0 && answer !== 6) return undefined;
        silences++;
        return SILENCE;
      });
      const delivery = await deliver('no answer', proxy, { fields: `${ownFields()} ${timeout ?? ''}` });
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

    if (mayBeSecure) {
      it('a certificate that has expired: nothing is sent before a valid one is there', async () => {
        const { folder, issue } = certificates();
        const proxy = await proxyWith(undefined, { keys: issue('expired', -1) });
        let bytes = 0;
        const { watch } = proxy;
        proxy.watch = (data) => {
          bytes += data.length;
          watch(data);
        };
        const delivery = await deliver('expired certificate', proxy, {
          fields: trusting(`${folder}/authority.pem`),
        });
        const child = await delivery.trial.run('--once');
        await child.shows('stderr', /certificate has expired/i);
        expect(bytes).toBe(0);
        proxy.present(issue('valid'));
        expect(await child.ended()).toMatchObject({ code: 0 });
        await expectAll(delivery);
      });

      it('a certificate of its own that the server refuses, and later the right one, without a restart', async () => {
        const { folder, issue, read } = certificates();
        const proxy = await proxyWith(undefined, {
          keys: issue('server'),
          clientCa: read('authority.pem'),
        });
        const delivery = await deliver('wrong credentials', proxy, {
          fields: trusting(
            `${folder}/authority.pem`,
            `, cert: { file: client.pem }, key: { file: client.key }`,
          ),
        });
        const { trial } = delivery;
        const use = ({ cert, key }: KeyPair) => {
          trial.write('client.pem', cert);
          trial.write('client.key', key);
        };
        use(certificates().issue('client'));
        const child = await trial.run();
        await child.shows('stderr', /trying again/);
        await delay(byForm({ short: 1000, long: 60_000 }));
        use(issue('client'));
        await child.shows('stderr', /works again after/);
        expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
        expect(await trial.runOnce()).toMatchObject({ code: 0 });
        await expectAll(delivery);
      });
    }

    it(`the server ends by ${endsBy} and starts again`, async () => {
      let restarted: Promise<void> | undefined;
      const proxy = await proxyWith((piece) => {
        if (piece === 8) {
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
      await expectAll(delivery, { repeats: recognises ? 0 : IN_FLIGHT, mayLose: true });
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
