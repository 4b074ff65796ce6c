/** The library is large and slow to load: it is loaded by the first call that needs it. */
export const systemInformation = () => import('systeminformation');
