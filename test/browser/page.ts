import {
  defer,
  firstValueFrom,
  from,
  fromEvent,
  type MonoTypeOperatorFunction,
  map,
  of,
  Subject,
  take,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import * as operators from '../../operators/index.ts';

const {
  batchBy,
  dedupe,
  delayRange,
  entropyMask,
  gatherMap,
  InFlightWindow,
  MaskError,
  orderedMap,
  poll,
  pullFrom,
  rateLimit,
  regexMask,
  regexMasker,
  restartWithBackoff,
  retryWithBackoff,
  sampleFirst,
  sampleRate,
  untilAborted,
  withChildren,
} = operators;

/** What a page does with the operators. Runs in the browser; returns what the test compares. */
export async function work() {
  return {
    // All names: a bundler keeps every operator then, and every module is executed.
    names: Object.keys(operators).sort(),
    strings: await maskStrings(),
    event: await maskUserEvent(),
    refused: refuseBlob(),
    delayed: await delay(),
    ordered: await order(),
    gathered: await gather(),
    pulled: await pull(),
    polled: await firstValueFrom(poll(() => ['up'], { interval: 5 }).pipe(take(3), toArray())),
    thinned: await thin(),
    batched: await firstValueFrom(of('ab', 'cd', 'é', 'f').pipe(batchBy({ bytes: 3 }), toArray())),
    restarted: await restart(restartWithBackoff({ ...POLICY, onComplete: false })),
    retried: await restart(retryWithBackoff(POLICY)),
    aborted: await abort(),
    children: withChildren({ data: {} }, { name: 'part', count: 2 }),
  };
}

function maskStrings() {
  const lines = from(['call 555-0134, PIN 😀😀', 'session Zk3vQ9xLw2Tb7RmP and aaaaaaaaaaaaaaaaaaaa']);
  return firstValueFrom(
    lines.pipe(
      regexMask({ rules: { PHONE: '(?P<area>\\d{3})-\\d{4}' } }),
      regexMask({ rules: { PIN: '(?i)(?<=pin )\\S+' }, mask_char: '*' }),
      entropyMask(),
      toArray(),
    ),
  );
}

class LoginEvent extends Event {
  readonly detail: object;
  constructor(detail: object) {
    super('login');
    this.detail = detail;
  }
}

/** An event of the page itself, with what browsers put into events. */
async function maskUserEvent() {
  const page = new EventTarget();
  const masked = firstValueFrom(
    fromEvent<LoginEvent>(page, 'login').pipe(
      map(({ detail }) => detail),
      regexMask({ rules: { EMAIL: '[\\w.]+@[\\w.]+', TOKEN: '(?<=token=)\\w+' } }),
      entropyMask({ mask_str: 'KEY' }),
    ),
  );
  const detail = Object.freeze({
    timestamp: '2026-01-01T00:00:00Z',
    data: Object.freeze({
      user: 'ada@example.com',
      keys: Object.freeze(['Zk3vQ9xLw2Tb7RmP']),
      link: new URL('https://example.com/?token=abc123'),
      tries: 1,
    }),
  });
  page.dispatchEvent(new LoginEvent(detail));
  return masked;
}

/** A mask cannot look into a Blob, so none may pass. */
function refuseBlob() {
  try {
    return regexMasker({ rules: { A: 'a' } })({ data: { upload: new Blob(['a secret']) } });
  } catch (error) {
    return error instanceof MaskError ? error.name : error;
  }
}

async function delay() {
  const began = performance.now();
  const value = await firstValueFrom(from(['late']).pipe(delayRange({ minimum: 20, maximum: 30 })));
  return { value, after20ms: performance.now() - began >= 19 };
}

function order() {
  return firstValueFrom(
    from([30, 10, 20]).pipe(
      orderedMap((ms) => timer(ms).pipe(map(() => ms)), { concurrency: 2 }),
      toArray(),
    ),
  );
}

function gather() {
  const clicks = new Subject<number>();
  const gathered = firstValueFrom(
    clicks.pipe(
      gatherMap((numbers) => timer(5).pipe(map(() => numbers))),
      toArray(),
    ),
  );
  for (const n of [1, 2, 3]) clicks.next(n);
  clicks.complete();
  return gathered;
}

/** The body of a response, read no faster than its consumer takes it. */
async function pull() {
  const window = new InFlightWindow(1);
  let open = 0;
  let mostOpen = 0;
  const rows: string[] = [];
  await pullFrom(rowsOf(new Response('a\nb\nc')), window).forEach((row) => {
    window.take(1);
    mostOpen = Math.max(mostOpen, ++open);
    rows.push(row);
    setTimeout(() => {
      open--;
      window.release(1);
    });
  });
  return { rows, mostOpen };
}

async function* rowsOf(response: Response) {
  yield* (await response.text()).split('\n');
}

/** Each way to let fewer events pass. The last goes by a hash, which must be the same everywhere. */
function thin() {
  const all = (operator: MonoTypeOperatorFunction<string>) =>
    firstValueFrom(from(['a', 'b', 'a', 'a', 'c']).pipe(operator, toArray()));
  return Promise.all([
    all(dedupe({ within: 60_000 })),
    all(rateLimit({ count: 2, per: 60_000 })),
    all(sampleFirst({ key: (letter) => letter, first: 2, per: 60_000 })),
    all(sampleRate({ rate: 0.5, key: (letter) => letter })),
  ]);
}

const POLICY = { base: 2, cap: 4, attempts: 5, healthyAfter: 1000 };

function restart(again: MonoTypeOperatorFunction<string>) {
  let runs = 0;
  const connect$ = defer(() => (++runs < 3 ? throwError(() => new Error('down')) : of(`run ${runs}`)));
  return firstValueFrom(connect$.pipe(again));
}

function abort() {
  const stop = new AbortController();
  const ticks = firstValueFrom(
    poll(() => ['tick'], { interval: 60_000 }).pipe(untilAborted(stop.signal), toArray()),
  );
  setTimeout(() => stop.abort(), 5);
  return ticks;
}
