export * from '../../plugins/pack-tests/random.ts';
