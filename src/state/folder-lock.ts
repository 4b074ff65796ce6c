import fs from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { concatMap, defer, firstValueFrom, Observable, of, timer } from 'rxjs';
import { MillraceError } from '../sdk/errors.ts';

/** Milliseconds: between `bind` and `listen` of its owner a socket refuses like one whose owner is dead. */
const SECOND_LOOK = 25;
/** Milliseconds to wait for the owner to say who it is: it may be stopped, and holds the folder all the same. */
const LONGEST_ANSWER = 500;
/** The least of the systems' limits to the path of a socket, in bytes. */
const LONGEST_PATH = 100;
const LOCK = /^lock\.(\d+)$/;

/** How connecting fails for a socket without a listener, and for a plain file. */
const DEAD: readonly (string | undefined)[] = ['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'];

/** What a folder is used for, in messages. */
export interface FolderUse {
  readonly what: string;
  readonly danger: string;
}

const STATE_FOLDER: FolderUse = {
  what: 'the state folder',
  danger: 'two processes with the same checkpoints would lose lines',
};

interface Held {
  readonly server: net.Server;
  readonly number: number;
}

/**
 * Holds a folder for this process by listening on a socket in it: the kernel ends that with the process, however it
 * dies, so neither a lock left behind nor a reused pid misleads, not even across containers.
 *
 * Sockets are numbered, and the highest number holds the folder. A process that finds it dead binds the next
 * number, which only one can. The highest number never vanishes, so that none is used twice: releasing the
 * folder leaves a plain file with the next one.
 */
export class FolderLock {
  readonly #folder: string;
  readonly #held: Held;
  readonly #handle: number | undefined;

  private constructor(folder: string, held: Held, handle: number | undefined) {
    this.#folder = folder;
    this.#held = held;
    this.#handle = handle;
  }

  /**
   * `use` says what the folder is, and what two processes that use it would do.
   *
   * @throws MillraceError if another process, or another part of this one, holds the folder.
   */
  static async take(folder: string, use: FolderUse = STATE_FOLDER): Promise<FolderLock> {
    const isLong = Buffer.byteLength(join(folder, 'lock.000000')) > LONGEST_PATH;
    const handle = isLong ? fs.openSync(folder, 'r') : undefined;
    const way = handle === undefined ? folder : `/proc/self/fd/${handle}`;
    try {
      return new FolderLock(folder, await claim(folder, way, use), handle);
    } catch (error) {
      if (handle !== undefined) fs.closeSync(handle);
      throw error;
    }
  }

  release(): void {
    try {
      fs.writeFileSync(join(this.#folder, `lock.${this.#held.number + 1}`), '', { flag: 'wx', mode: 0o600 });
    } catch {
      // The folder is full or gone. Then a number may be used twice, which harms only in a race of three processes.
    }
    this.#held.server.close();
    if (this.#handle !== undefined) fs.closeSync(this.#handle);
  }
}

async function claim(folder: string, way: string, use: FolderUse): Promise<Held> {
  for (;;) {
    const highest = Math.max(0, ...numbersIn(folder));
    if (highest > 0) await refuseIfHeld(folder, join(way, `lock.${highest}`), use);
    const number = highest + 1;
    const server = await listen(join(way, `lock.${number}`));
    if (server === undefined) continue;
    const others = numbersIn(folder).filter((other) => other !== number);
    if (Math.max(0, ...others) < number) {
      for (const other of others) fs.rmSync(join(folder, `lock.${other}`), { force: true });
      return { server, number };
    }
    server.close();
  }
}

function numbersIn(folder: string): number[] {
  return fs.readdirSync(folder).flatMap((name) => {
    const number = LOCK.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

/** Undefined if another process took that number. Tells each client the pid. */
function listen(path: string): Promise<net.Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.end(`${process.pid}\n`);
    });
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(path, () => {
      // The kernel has made it for everybody, less the umask.
      fs.chmodSync(path, 0o600);
      server.unref();
      resolve(server);
    });
  });
}

async function refuseIfHeld(folder: string, path: string, use: FolderUse): Promise<void> {
  const looks$ = defer(() => ownerOf(path)).pipe(
    concatMap((owner) =>
      owner === undefined ? timer(SECOND_LOOK).pipe(concatMap(() => ownerOf(path))) : of(owner),
    ),
  );
  const owner = await firstValueFrom(looks$);
  if (owner === undefined) return;
  throw new MillraceError(
    'MILLRACE_STATE_LOCKED',
    `${use.what} ${folder} is in use by ${owner}: ${use.danger}; stop that process, or give this one another folder`,
  );
}

/** The process that listens at `path`; undefined if there is none. */
function ownerOf(path: string): Observable<string | undefined> {
  return new Observable((subscriber) => {
    const socket = net.connect(path);
    let pid = '';
    let isHeld = false;
    const answer = () => {
      const name = pid === '' ? 'a process that does not say its pid' : `process ${pid}`;
      subscriber.next(isHeld ? (Number(pid) === process.pid ? `this process (${pid})` : name) : undefined);
      subscriber.complete();
    };
    socket.on('connect', () => {
      isHeld = true;
    });
    socket.on('data', (data) => {
      pid = /^\d+/.exec(data.toString())?.[0] ?? '';
      answer();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const { code } = error;
      if (code === 'EROFS') subscriber.error(error);
      // One that may not be asked, such as another user's, is there all the same.
      if (!DEAD.includes(code)) isHeld = true;
      answer();
    });
    socket.on('close', answer);
    subscriber.add(timer(LONGEST_ANSWER).subscribe(answer));
    subscriber.add(() => socket.destroy());
  });
}
