export * from '../../plugins/pack-tests/templates.ts';
