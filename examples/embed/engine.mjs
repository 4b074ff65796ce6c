// An application that runs a whole pipeline inside itself:
//
//     npm run build && node examples/embed/engine.mjs
//
// Its events come in, and masked ones come out, by plugins that it registers; its functions are the host's.

import {
  collectedEvent,
  defineCollector,
  defineForwarder,
  Manager,
  parseConfig,
  registerPlugin,
} from 'millrace';
import { EMPTY, firstValueFrom, map, of } from 'rxjs';

const logins$ = of({ user: 'ada@example.com', ok: true }, { user: 'grace@example.com', ok: false });

registerPlugin(
  'collect',
  'logins',
  defineCollector({ collect: () => logins$.pipe(map((login) => collectedEvent(login))) }),
);
registerPlugin(
  'forward',
  'console',
  defineForwarder({ forward: ({ event }) => console.log(JSON.stringify(event.data)) }),
);

/** @type {import('millrace').Host} */
const host = {
  id: 'shop-1',
  role: 'shop',
  events: () => EMPTY,
  functions: () => ['shop.health'],
  call: () => [{ sessions: 2, contact: 'ops@example.com' }],
};

const config = await parseConfig(
  {
    collectors: { logins: { plugin: 'logins' }, health: { plugin: 'host_exec', fn: 'shop.health' } },
    processors: { mask: { plugin: 'regex_mask', rules: { EMAIL: '[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+' } } },
    forwarders: { console: { plugin: 'console' } },
    pipelines: { audit: { collect: ['logins', 'health'], process: 'mask', forward: 'console' } },
    host_config: {},
  },
  { host },
);

// `once`: collectors end when there is no more. A server leaves it out, and calls `manager.stop()` in the end.
const manager = new Manager(config, { host, once: true });
manager.start();
const [audit] = await firstValueFrom(manager.finished$);
console.log(audit?.state);
