import { Observable, type OperatorFunction, type Subscription } from 'rxjs';
import { subscribeFor } from './subscribe-for.ts';

/** Changes a text that arrives in pieces, and may hold a part of it back. */
export interface TextStream<T> {
  write(piece: T): string;
  end(): string;
}

/** Emits a text unless it is empty. */
type EmitText = (make: () => string) => void;

/**
 * Emits what a stream makes of the pieces of the source, none of it empty. Text that is held back is emitted before the source
 * completes or fails. An exception from the stream becomes an error notification.
 *
 * @param streamFor returns the stream for a subscriber, which can emit between pieces and add what ends with the subscription
 */
export function throughText<T>(
  streamFor: (emit: EmitText, subscription: Subscription) => TextStream<T>,
): OperatorFunction<T, string> {
  return (source) =>
    new Observable<string>((subscriber) => {
      const emit: EmitText = (make) => {
        let text: string;
        try {
          text = make();
        } catch (error) {
          subscriber.error(error);
          return;
        }
        if (text !== '') subscriber.next(text);
      };
      const stream = streamFor(emit, subscriber);
      subscribeFor(subscriber, source, {
        next: (piece) => emit(() => stream.write(piece)),
        error: (error) => {
          emit(() => stream.end());
          subscriber.error(error);
        },
        complete: () => {
          emit(() => stream.end());
          subscriber.complete();
        },
      });
    });
}
