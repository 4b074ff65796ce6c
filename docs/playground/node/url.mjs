export const pathToFileURL = (path) => new URL(`file://${path}`);
export const fileURLToPath = (url) => new URL(url).pathname;
export const URL = globalThis.URL;
