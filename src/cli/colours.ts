import pc from 'picocolors';

export type Colours = ReturnType<typeof pc.createColors>;

/** What of a stream decides on colours and on the live line. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Whether a stream is a terminal that can redraw a line. */
export function isTerminal(stream: Pick<OutputStream, 'isTTY'>, env: Env = process.env): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** Colours for a stream: on a terminal, unless `NO_COLOR` is set; elsewhere only with `FORCE_COLOR`. */
export function coloursFor(stream: Pick<OutputStream, 'isTTY'>, env: Env = process.env): Colours {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0';
  return pc.createColors(!env.NO_COLOR && (forced || isTerminal(stream, env)));
}
