// An application that writes an audit log of its own events, without the secrets in them:
//
//     npm run build && node examples/embed/app.mjs
//
// No engine, no configuration: millrace is two operators here, in masked.mjs. Its test is masked.test.mjs.

import { Subject } from 'rxjs';
import { masked } from './masked.mjs';

/**
 * @typedef {object} Login
 * @property {string} user
 * @property {boolean} ok
 * @property {object} request
 */

/** What happens in the application. @type {Subject<Login>} */
const logins = new Subject();

logins
  // The error names the kind of thing that could not be masked, never its content.
  .pipe(masked(({ message }) => console.error(`not logged: ${message}`)))
  .subscribe((login) => console.log(JSON.stringify(login)));

logins.next({
  user: 'ada@example.com',
  ok: true,
  request: { path: '/login', cookies: ['theme=dark', 'Zk3vQ9xLw2Tb7RmP'] },
});
logins.next({
  user: 'grace@example.com',
  ok: false,
  request: { path: '/login?password=hunter2', cookies: [] },
});
// A mask cannot look into a Map, so this one is not written at all.
logins.next({ user: 'alan@example.com', ok: true, request: new Map([['token', 'Zk3vQ9xLw2Tb7RmP']]) });
logins.next({ user: 'guest', ok: true, request: { path: '/' } });
logins.complete();
