/** The oldest Node.js that millrace runs on, as in `engines` of package.json. */
const OLDEST_MAJOR = 20;
const OLDEST_MINOR = 19;

/**
 * What is wrong with a version of Node.js, undefined if millrace runs on it. Node.js 12 has to be able to parse this file.
 *
 * @example
 * nodeVersionProblem('20.19.0'); // undefined
 */
export function nodeVersionProblem(found: string): string | undefined {
  const [major = 0, minor = 0] = found.split('.').map(Number);
  if (major > OLDEST_MAJOR || (major === OLDEST_MAJOR && minor >= OLDEST_MINOR)) return undefined;
  return (
    `Node.js ${OLDEST_MAJOR}.${OLDEST_MINOR} or later is required, and this is Node.js ${found} (${process.execPath}). ` +
    'Install a later version, for example from https://nodejs.org/en/download'
  );
}
