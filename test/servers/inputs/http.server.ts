import { STRAY_KEY } from './input-connector.ts';
import { overHttp } from './over-http.ts';
import { testInput } from './scenarios.ts';

testInput(
  overHttp({
    name: 'http',
    path: '/logs',
    fields: 'path: /logs',
    body: (lines) => ({ type: 'text/plain', bytes: `${lines.join('\n')}\n` }),
    malformed: {
      'no JSON': {
        type: 'application/x-ndjson',
        bytes: `{"line":"${STRAY_KEY}"}\n{"line":"${STRAY_KEY}`,
      },
      'JSON of another form': { type: 'application/json', bytes: `["${STRAY_KEY}"]` },
    },
  }),
);
