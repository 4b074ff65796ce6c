// `rxjs/testing` of the same file as `rxjs`: see jest.config.ts.
module.exports = require('rxjs').testing;
