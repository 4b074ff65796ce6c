export const hostname = () => 'playground';
