import { parseJson } from '../../src/sdk/index.ts';
import type { Answer, Endpoint, ReceivedRequest, RequestEvents } from '../http-in/endpoint.ts';
import { Refusal } from '../http-in/refusal.ts';
import { eventsOf, textOf } from '../http-in/request-events.ts';
import { decodeJson } from './decode-json.ts';
import { decodeProtobuf } from './decode-protobuf.ts';
import type { Signal } from './messages.ts';
import { MalformedMessage } from './protobuf-reader.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import type { Records } from './records.ts';

const PROTOBUF = 'application/x-protobuf';
const JSON_TYPE = 'application/json';
/** Enough for the usual answer. */
const ANSWER_BYTES = 256;

type Encoding = typeof PROTOBUF | typeof JSON_TYPE;

/** Receives the requests of a signal, `/v1/logs` for example: an event for each record. */
export function otlpEndpoint(signal: Signal): Endpoint {
  return {
    ...{ method: 'POST', auth: {} },
    read: (request) => read(request, signal),
    answer: (result, { headers }) => {
      const encoding = encodingOf(headers['content-type']) ?? JSON_TYPE;
      return result instanceof Refusal
        ? refused(result, encoding)
        : taken(encoding, signal, NOTHING_REJECTED);
    },
  };
}

const NOTHING_REJECTED = { rejected: 0, problem: undefined };

function encodingOf(type = ''): Encoding | undefined {
  const [media = ''] = type.toLowerCase().split(';');
  return [PROTOBUF, JSON_TYPE].find((encoding): encoding is Encoding => encoding === media.trim());
}

function read(request: ReceivedRequest, signal: Signal): RequestEvents {
  const encoding = encodingOf(request.headers['content-type']);
  if (encoding === undefined) throw new Refusal(415, `send ${PROTOBUF} or ${JSON_TYPE}`);
  const records = decode(request, encoding, signal);
  const { rejected: count, problem: reason = '' } = records;
  const rejected = count === 0 ? undefined : { count, reason };
  return { ...eventsOf(records.rows()), rejected, answer: taken(encoding, signal, records) };
}

function decode({ body, reserve }: ReceivedRequest, encoding: Encoding, signal: Signal): Records {
  try {
    if (encoding === PROTOBUF) return decodeProtobuf(body, signal, reserve);
    return decodeJson(jsonOf(textOf(body)), signal, reserve);
  } catch (error) {
    if (error instanceof MalformedMessage)
      throw new Refusal(400, `the body is not valid OTLP: ${error.message}`);
    throw error;
  }
}

/** The depth of values is checked later, for each record, so that only the record itself is rejected. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new MalformedMessage('it is not JSON');
  }
}

function taken(
  encoding: Encoding,
  { rejected: name }: Signal,
  { rejected, problem = '' }: Pick<Records, 'rejected' | 'problem'>,
): Answer {
  if (encoding === JSON_TYPE) {
    const partial =
      rejected === 0 ? {} : { partialSuccess: { [name]: String(rejected), errorMessage: problem } };
    return answer(200, encoding, JSON.stringify(partial));
  }
  const writer = new ProtobufWriter(ANSWER_BYTES);
  const writePartial = () => {
    writer.string(2, problem);
    writer.integer(1, rejected);
  };
  if (rejected > 0) writer.message(1, writePartial);
  return answer(200, encoding, writer.done());
}

/** A `google.rpc.Status`. Of its code, clients use that of HTTP. */
function refused({ status, message }: Refusal, encoding: Encoding): Answer {
  if (encoding === JSON_TYPE) return answer(status, encoding, JSON.stringify({ message }));
  const writer = new ProtobufWriter(ANSWER_BYTES);
  writer.string(2, message);
  return answer(status, encoding, writer.done());
}

function answer(status: number, encoding: Encoding, body: string | Uint8Array): Answer {
  return { status, headers: { 'content-type': encoding }, body };
}
