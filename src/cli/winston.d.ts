// Parts of winston that have no types of their own.

declare module 'winston/lib/winston/create-logger.js' {
  const createLogger: typeof import('winston').createLogger;
  export default createLogger;
}

declare module 'winston/lib/winston/transports/stream.js' {
  const StreamTransport: typeof import('winston').transports.Stream;
  export default StreamTransport;
}
