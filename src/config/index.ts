export { ConfigError, type LocatedProblem, problemText } from './config-error.ts';
export { jsonSchema, jsonSchemaText } from './json-schema.ts';
export { type LoadConfigOptions, type LoadedConfig, loadConfig } from './load-config.ts';
export { type ParseConfigOptions, parseConfig } from './parse-config.ts';
export { _validate_pipelines, type EntryNames } from './validate-pipelines.ts';
