import { concat, concatMap, defer, EMPTY, ignoreElements, type Observable, of, shareReplay, tap } from 'rxjs';
import type { PipelineRunContext } from '../../src/sdk/index.ts';
import type { NatsLink, OpenLink } from './link.ts';
import type { ConnectionSettings } from './settings.ts';

/**
 * The link of a run: opened for the first call, and again for the next one if that failed or it was closed. It is closed
 * when the run is over.
 */
export class SharedLink {
  readonly #ctx: PipelineRunContext<ConnectionSettings>;
  readonly #open: OpenLink<ConnectionSettings>;
  readonly #prepare: (link: NatsLink) => Observable<unknown>;
  #opened: Observable<NatsLink> | undefined;
  #prepared: Observable<NatsLink> | undefined;
  #flush = (): Observable<never> => EMPTY;

  /** `prepare` is called with each link, and has to complete before the link is used. */
  constructor(
    ctx: PipelineRunContext<ConnectionSettings>,
    open: OpenLink<ConnectionSettings>,
    prepare: (link: NatsLink) => Observable<unknown> = () => EMPTY,
  ) {
    this.#ctx = ctx;
    this.#open = open;
    this.#prepare = prepare;
  }

  /** Emits the link. Errors if there is none now, or if it cannot be prepared. */
  get link$(): Observable<NatsLink> {
    return defer(() => {
      this.#prepared ??= this.#preparedLink();
      return this.#prepared;
    });
  }

  /** Has the link prepared again before its next use. */
  prepareAgain(): void {
    this.#prepared = undefined;
  }

  /** Completes when the server has what was sent, and what it had sent has come. At once if there is no link. */
  flush(): Observable<never> {
    return defer(() => this.#flush());
  }

  #preparedLink(): Observable<NatsLink> {
    const prepared$: Observable<NatsLink> = defer(() => {
      this.#opened ??= this.#openedLink();
      return this.#opened;
    }).pipe(
      concatMap((link) => concat(this.#prepare(link).pipe(ignoreElements()), of(link))),
      tap({
        error: () => {
          if (this.#prepared === prepared$) this.#prepared = undefined;
        },
      }),
      shareReplay(1),
    );
    return prepared$;
  }

  #openedLink(): Observable<NatsLink> {
    const { config, logger, pipeline, ended } = this.#ctx;
    const where = `${pipeline}: the connection to ${config.servers.join(', ')}`;
    let isClosed = false;
    const forget = () => {
      if (this.#opened !== opened$) return;
      this.#opened = undefined;
      this.#prepared = undefined;
    };
    const events = {
      lost: () => logger.warn(`${where} is lost; connecting again`),
      restored: () => logger.info(`${where} is there again`),
      closed: (reason: string) => {
        forget();
        if (!isClosed && !ended.aborted) logger.warn(`${where} is closed: ${reason}`);
      },
    };
    const opened$: Observable<NatsLink> = this.#open(config, `millrace ${pipeline}`, events).pipe(
      tap((link) => {
        const close = () => {
          if (isClosed) return;
          isClosed = true;
          ended.removeEventListener('abort', close);
          link.close();
        };
        this.#flush = () => (isClosed ? EMPTY : link.flush());
        if (ended.aborted) close();
        else ended.addEventListener('abort', close, { once: true });
      }),
      tap({ error: forget }),
      shareReplay(1),
    );
    return opened$;
  }
}
