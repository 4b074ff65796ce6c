export * from '../../plugins/pack-tests/ordinary-lines.ts';
