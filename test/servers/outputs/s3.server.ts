import { SECRET_KEY, startVersityGw, type VersityGw } from '../support/versity-gw.ts';
import { testOverHttp } from './http-scenarios.ts';

testOverHttp<VersityGw>({
  name: 's3',
  needs: ['versitygw'],
  start: startVersityGw,
  url: ({ url }) => url,
  target(server, bucket) {
    server.createBucket(bucket);
    const keys = `access_key_id: ${server.accessKey}, secret_access_key: { file: token }`;
    return {
      forwarder: (at) =>
        // Compressed, a secret would not be seen on its way.
        `plugin: s3, endpoint: '${at}', bucket: ${bucket}, ${keys}, compression: none`,
      documents: async () =>
        [...server.objects(bucket).values()].flatMap((object) => object.toString().trimEnd().split('\n')),
    };
  },
  // An object that is there is not stored again.
  recognises: true,
  exactlyOnce: true,
  endsBy: 'SIGKILL',
  // The server checks the signature of each request.
  token: SECRET_KEY,
  credentials: {},
});
