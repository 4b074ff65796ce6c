import { afterEach, describe, expect, it } from '@jest/globals';
import {
  builtinPlugins,
  findPlugin,
  kindsOf,
  loadPlugin,
  pluginNames,
  registerPlugin,
  unregisterPlugin,
} from '../../src/config/registry.ts';
import { ProcessConfigBase } from '../../src/sdk/config.ts';
import type { ProcessPlugin } from '../../src/sdk/plugin.ts';

const plugin: ProcessPlugin = { get_config_schema: () => ProcessConfigBase, process: () => [] };

describe('the registry', () => {
  afterEach(() => {
    unregisterPlugin('process', 'own');
  });

  it('has the built-in plugins', async () => {
    expect([...(await builtinPlugins('collect')).keys()]).toEqual([
      'beacons',
      'file',
      'stdin',
      'test',
      'host_exec',
      'exec',
      'journald',
      'kafka',
      'nats',
      'http',
      'syslog',
      'otlp',
    ]);
    expect([...(await builtinPlugins('process')).keys()]).toEqual([
      'test',
      'redact',
      'regex_mask',
      'entropy_mask',
      'filter',
      'multiline',
      'map',
      'parse',
    ]);
    expect([...(await builtinPlugins('forward')).keys()]).toEqual([
      'datadog',
      'disk',
      'elasticsearch',
      'http',
      'loki',
      'kafka',
      'nats',
      'noop',
      'otlp',
      's3',
      'splunk_hec',
      'stdout',
      'syslog',
      'test',
    ]);
    expect(kindsOf('test')).toEqual(['collect', 'process', 'forward']);
    expect(kindsOf('toString')).toEqual([]);
  });

  it.each(['collect', 'process', 'forward'] as const)(
    'has %s plugins that keep their contract',
    async (kind) => {
      for (const builtin of (await builtinPlugins(kind)).values()) {
        expect(builtin).toMatchObject({
          get_config_schema: expect.any(Function),
          [kind]: expect.any(Function),
        });
        expect(builtin.description).toMatch(/\.$/);
        expect(builtin.example).toContain('plugin:');
      }
    },
  );

  it('loads a built-in plugin when it is asked for', async () => {
    expect(await loadPlugin('process', 'none')).toBeUndefined();
    const mask = await loadPlugin('process', 'regex_mask');
    expect(findPlugin('process', 'regex_mask')).toBe(mask);
    expect(await loadPlugin('process', 'regex_mask')).toBe(mask);
    expect(unregisterPlugin('process', 'regex_mask')).toBe(false);
  });

  it('takes a plugin of the program, and gives it back', () => {
    registerPlugin('process', 'own', plugin);
    expect(findPlugin('process', 'own')).toBe(plugin);
    expect(findPlugin('collect', 'own')).toBeUndefined();
    expect(pluginNames('process')).toContain('own');
    expect(unregisterPlugin('process', 'own')).toBe(true);
    expect(unregisterPlugin('process', 'own')).toBe(false);
    expect(findPlugin('process', 'own')).toBeUndefined();
  });

  it('refuses a name that is taken', () => {
    registerPlugin('process', 'own', plugin);
    expect(() => registerPlugin('process', 'own', plugin)).toThrow(
      'cannot register the process plugin `own`: it is registered already; choose another name',
    );
    expect(() => registerPlugin('process', 'test', plugin)).toThrow(
      'cannot register the process plugin `test`: a built-in plugin has that name; choose another name',
    );
    expect(() => registerPlugin('process', '', plugin)).toThrow('a plugin needs a name');
  });

  it('refuses a value that is not a plugin of the kind', () => {
    const broken = { process: plugin.process } as ProcessPlugin;
    expect(() => registerPlugin('process', 'own', broken)).toThrow(
      'cannot register the process plugin `own`: it lacks the function get_config_schema',
    );
    const forwarder = { get_config_schema: plugin.get_config_schema, forward: () => [] };
    expect(() => registerPlugin('process', 'own', forwarder as unknown as ProcessPlugin)).toThrow(
      'it is a forward plugin; expected a process plugin',
    );
  });
});
