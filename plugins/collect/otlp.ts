import type * as z from 'zod';
import { CollectConfigBase, defineCollector, type ListenAddress } from '../../src/sdk/index.ts';
import { collectHttp } from '../http-in/http-intake.ts';
import { RETRY_AFTER } from '../http-in/refusal.ts';
import { httpListenerFields } from '../http-in/settings.ts';
import { lineDemand } from '../lines/collect-lines.ts';
import { exposureProblems, listensOn } from '../listen/listening.ts';
import { LOGS, TRACES } from '../otlp/messages.ts';
import { otlpEndpoint } from '../otlp/otlp-endpoint.ts';

const schema = CollectConfigBase.extend(httpListenerFields(4318));

const ENDPOINTS = new Map([LOGS, TRACES].map((signal) => [signal.path, otlpEndpoint(signal)]));

export default defineCollector({
  description: 'Listens for logs and traces of OpenTelemetry: OTLP over HTTP, as protobuf or JSON.',
  example: `
telemetry:
  plugin: otlp
  listen: 127.0.0.1:4318
`,
  schema,
  shownSettings: { listen: '' },
  traits: {
    usesState: false,
    waits: true,
    redelivers: true,
    answers: true,
    listens: ({ config }: { config: { listen: ListenAddress } }) => listensOn(config.listen),
  },
  testing: {
    batchDemand: ({ ctx }) => lineDemand(ctx),
    /** A sender repeats what was refused, or what it got no answer for. */
    redelivery: ({ config }: { config: z.output<typeof schema> }) => ({
      afterFailure: () => RETRY_AFTER * 1000,
      afterSilence: config.timeout * 1000,
    }),
  },
  checkConfig: ({ config }) => exposureProblems(config),
  /**
   * Emits an event for each log record and each span. A request is answered with 200 when all of them are acknowledged, and
   * with 429 or 503 and `Retry-After` if it is to be repeated. Errors if it cannot listen.
   */
  collect: ({ ctx }) => collectHttp(ctx, (path) => ENDPOINTS.get(path)),
});
