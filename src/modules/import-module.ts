/**
 * Imports a module by its URL, or by the name of a package that millrace has. The build puts this into a file of its own,
 * which Node loads itself: in code that was compiled ahead, V8 no longer knows whom to ask for an import.
 */
export const importModule = (specifier: string): Promise<Record<string, unknown>> => import(specifier);
