export const isNativeError = (value) => value instanceof Error;
