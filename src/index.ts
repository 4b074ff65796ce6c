export { ConfigError } from './config/config-error.ts';
export { loadConfig } from './config/load-config.ts';
export { parseConfig } from './config/parse-config.ts';
export { isPermanent, MillraceError, PluginError, safeReason } from './errors.ts';
export { Manager, type ManagerOptions } from './manager.ts';
export * from './models/index.ts';
export { registerPlugin, unregisterPlugin } from './registry.ts';
