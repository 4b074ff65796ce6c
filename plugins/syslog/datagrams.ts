import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { asyncScheduler, fromEvent, Observable, Subscription } from 'rxjs';
import type { PipelineRunContext } from '../../src/sdk/index.ts';
import { listenError } from '../listen/listening.ts';
import type { CollectorConfig } from './collector-settings.ts';
import { messageText } from './framing.ts';
import type { ListenerReports, Received } from './stream-listener.ts';

/** Datagrams that are emitted together: those that come within a millisecond. */
const MOST_TOGETHER = 512;

/**
 * Emits the message of each datagram. UDP cannot wait: while there is no room, datagrams go into the buffer of the pipeline,
 * which drops and counts them when it is full. Completes, after the last ones, when the run is stopped. Errors if the socket
 * cannot be bound.
 */
export function listenForDatagrams(
  { config, signal, stats }: PipelineRunContext<CollectorConfig>,
  reports: ListenerReports,
): Observable<Received> {
  return new Observable((subscriber) => {
    const { host, port } = config.listen;
    const socket = createSocket({
      type: isIPv6(host) ? 'udp6' : 'udp4',
      ...(config.receive_buffer_bytes && { recvBufferSize: config.receive_buffer_bytes }),
    });
    /** By sender. */
    let held = new Map<string, string[]>();
    let count = 0;
    let pending = Subscription.EMPTY;
    const emit = () => {
      pending.unsubscribe();
      const all = held;
      held = new Map();
      count = 0;
      for (const [source, messages] of all) subscriber.next({ messages, source });
    };
    socket
      .on('error', (cause) => subscriber.error(listenError(cause, config.listen)))
      .on('message', (datagram, { address }) => {
        stats.bytes(datagram.length);
        if (datagram.length > config.max_message_bytes) {
          reports.tooLong(address);
          return;
        }
        const message = messageText(datagram);
        if (message === '') return;
        const messages = held.get(address);
        if (messages === undefined) held.set(address, [message]);
        else messages.push(message);
        if (++count >= MOST_TOGETHER) emit();
        else if (count === 1) pending = asyncScheduler.schedule(emit);
      })
      .bind({ address: host, port, exclusive: true }, () =>
        reports.listening({ host, port: socket.address().port }),
      );
    subscriber.add(() => {
      pending.unsubscribe();
      socket.close();
    });
    const stopped$ = fromEvent(signal, 'abort');
    subscriber.add(
      stopped$.subscribe(() => {
        emit();
        subscriber.complete();
      }),
    );
  });
}
