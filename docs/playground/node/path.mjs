import * as pathe from 'pathe';

export * from 'pathe';
export default pathe;
export const posix = pathe;
export const sep = '/';
