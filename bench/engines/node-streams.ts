import { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Engine, syntheticEvent } from './engine.ts';

/** Node's own streams in object mode: Readable → Transform → Writable. */
export const nodeStreams: Engine = async (count) => {
  let made = 0;
  let arrived = 0;
  const source = new Readable({
    objectMode: true,
    read() {
      while (made < count && this.push(syntheticEvent(made++)));
      if (made === count) this.push(null);
    },
  });
  const pass = new Transform({
    objectMode: true,
    transform(event, _encoding, done) {
      done(null, event);
    },
  });
  const end = new Writable({
    objectMode: true,
    write(_event, _encoding, done) {
      arrived++;
      done();
    },
  });
  await pipeline(source, pass, end);
  return arrived;
};
