import { concat, concatMap, defer, ignoreElements, type Observable, of, shareReplay, tap } from 'rxjs';
import type { PipelineRunContext } from '../../src/sdk/index.ts';
import type { NatsLink, OpenLink } from './link.ts';
import type { ConnectionSettings } from './settings.ts';

/** The link of a run: opened for the first call, and again for the next one if that failed or it was closed. */
export class SharedLink {
  readonly #ctx: PipelineRunContext<ConnectionSettings>;
  readonly #open: OpenLink<ConnectionSettings>;
  readonly #prepare: (link: NatsLink) => Observable<unknown>;
  #current: Observable<NatsLink> | undefined;

  /** `prepare` is called with each link, and has to complete before the link is used. */
  constructor(
    ctx: PipelineRunContext<ConnectionSettings>,
    open: OpenLink<ConnectionSettings>,
    prepare: (link: NatsLink) => Observable<unknown>,
  ) {
    this.#ctx = ctx;
    this.#open = open;
    this.#prepare = prepare;
  }

  /** Emits the link. Errors if there is none now. */
  get link$(): Observable<NatsLink> {
    return defer(() => {
      this.#current ??= this.#opened();
      return this.#current;
    });
  }

  #opened(): Observable<NatsLink> {
    const { config, logger, pipeline, signal } = this.#ctx;
    const where = `${pipeline}: the connection to ${config.servers.join(', ')}`;
    const forget = () => {
      if (this.#current === opened$) this.#current = undefined;
    };
    const events = {
      lost: () => logger.warn(`${where} is lost; connecting again`),
      restored: () => logger.info(`${where} is there again`),
      closed: (reason: string) => {
        forget();
        if (!signal.aborted) logger.warn(`${where} is closed: ${reason}`);
      },
    };
    const opened$: Observable<NatsLink> = this.#open(config, `millrace ${pipeline}`, events).pipe(
      concatMap((link) => {
        const close = () => link.close();
        if (signal.aborted) close();
        else signal.addEventListener('abort', close, { once: true });
        return concat(this.#prepare(link).pipe(ignoreElements()), of(link)).pipe(
          tap({
            error: () => {
              signal.removeEventListener('abort', close);
              close();
            },
          }),
        );
      }),
      tap({ error: forget }),
      shareReplay(1),
    );
    return opened$;
  }
}
