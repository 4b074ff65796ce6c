/** A browser's engine takes no flags, so the second engine for expressions is not used. */
export const setFlagsFromString = () => {};
export default { setFlagsFromString };
