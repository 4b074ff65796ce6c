import { checkClaim, readClaim } from './claims.ts';
import { type Example, statementsOf } from './docstrings.ts';

/** The names that an example may use without importing them. */
export type Scope = Readonly<Record<string, unknown>>;

/**
 * Runs an example as the body of an asynchronous module. Every statement with a claim is checked, and an example
 * has at least one.
 */
export async function runExample({ code }: Pick<Example, 'code'>, scope: Scope): Promise<void> {
  const statements = statementsOf(code);
  if (!statements.some(({ claim }) => claim !== undefined)) {
    throw new Error('this example claims nothing: write the value behind a statement, as in `f(1); // 2`');
  }
  const claims: ReturnType<typeof readClaim>[] = [];
  const lines = statements.map(({ code, claim }) => {
    if (claim === undefined) return code;
    claims.push(readClaim(claim));
    // Its own names may be used in the claim as well, so the claim is evaluated where the statement is.
    return `await $check(${claims.length - 1}, async () => [${code.replace(/;$/, '')}], (code) => eval('(' + code + ')'));`;
  });

  const check = async (index: number, run: () => Promise<[unknown]>, evaluate: (code: string) => unknown) => {
    const claim = claims[index] as (typeof claims)[number];
    try {
      await checkClaim((await run())[0], claim, evaluate);
    } catch (error) {
      const { code, claim: text } = statements.filter(({ claim }) => claim !== undefined)[
        index
      ] as (typeof statements)[number];
      throw new Error(`${code} // ${text}\n${error instanceof Error ? error.message : String(error)}`);
    }
  };
  // An inner function, so that an example may use the name of an operator, such as `window`, for a variable.
  const body = `return (async () => {\n${lines.join('\n')}\n})();`;
  // A namespace of CommonJS has `default` and `module.exports` among its names.
  const names = Object.keys(scope).filter((name) => /^(?!default$)[\w$]+$/.test(name));
  const run = new Function('$check', ...names, body) as (...values: unknown[]) => Promise<void>;
  await run(check, ...names.map((name) => scope[name]));
}
