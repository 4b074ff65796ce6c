import { describe, expect, it } from '@jest/globals';
import * as millrace from '../src/index.ts';
import * as plugin from '../src/sdk/index.ts';

describe('millrace', () => {
  it('exports these names and no others', () => {
    expect(Object.keys(millrace).sort()).toEqual([
      'CollectConfigBase',
      'ConfigError',
      'EventBatch',
      'ForwardConfigBase',
      'Manager',
      'MillraceError',
      'PluginError',
      'ProcessConfigBase',
      'batching',
      'collectedEvent',
      'defineCollector',
      'defineForwarder',
      'defineProcessor',
      'isEvent',
      'isPermanent',
      'isoNow',
      'loadConfig',
      'openState',
      'packNames',
      'packRules',
      'parseConfig',
      'readState',
      'registerPlugin',
      'safeReason',
      'serialise',
      'silentLogger',
      'toUtc',
      'unregisterPlugin',
    ]);
  });

  it('has of zod what plugins extend, and nothing else: another schema library is a change inside', () => {
    const schemas = Object.entries(millrace).filter(([, value]) => 'safeParse' in value);
    expect(schemas.map(([name]) => name).sort()).toEqual([
      'CollectConfigBase',
      'ForwardConfigBase',
      'ProcessConfigBase',
    ]);
  });
});

describe('millrace/plugin', () => {
  it('exports these names and no others', () => {
    expect(Object.keys(plugin).sort()).toEqual([
      'CollectConfigBase',
      'EventBatch',
      'ForwardConfigBase',
      'LineEvents',
      'MAX_COUNT',
      'MillraceError',
      'ParsedEvents',
      'PluginError',
      'ProcessConfigBase',
      'WrittenEvents',
      'WrittenFields',
      'batching',
      'bytes',
      'collectedEvent',
      'configFolder',
      'count',
      'defineCollector',
      'defineForwarder',
      'defineProcessor',
      'fileId',
      'folderId',
      'hasExactNumber',
      'integer',
      'isEvent',
      'isFatal',
      'isLoopback',
      'isPermanent',
      'isoNow',
      'jsonTokens',
      'listenAddress',
      'mapFields',
      'nearest',
      'oncePerContext',
      'oneCharacter',
      'parseJson',
      'parseListenAddress',
      'path',
      'printableJson',
      'safeReason',
      'seconds',
      'secret',
      'serialise',
      'silentLogger',
      'toJson',
      'toJsonLine',
      'toUtc',
    ]);
  });
});
