import { withoutComments } from './sources.ts';

/** An `@example` block of a docstring. */
export interface Example {
  /** The exported name that the docstring is about; undefined if it is about a part of it, such as a method. */
  readonly name: string | undefined;
  /** Where it begins, 1-based. */
  readonly line: number;
  readonly code: string;
}

/** A statement of an example, and the text of the value that the comment after it claims. */
export interface Statement {
  readonly code: string;
  readonly claim: string | undefined;
}

const DOCSTRING = /^[ \t]*\/\*\*[\s\S]*?\*\//gm;
const DECLARATION =
  /^\s*export\s+(?:default\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|const|interface|type)\s+(\w+)/;
const EXAMPLE = /@example[ \t]*\n([\s\S]*?)(?=\n@\w|$)/g;

/** The examples of a TypeScript file. */
export function examplesOf(text: string): Example[] {
  return [...text.matchAll(DOCSTRING)].flatMap((docstring) => {
    const [comment] = docstring;
    const lines = comment
      .split('\n')
      .map((line) => line.replace(/\s*\*\/$/, '').replace(/^\s*\/?\*+ ?/, ''))
      .join('\n');
    const name = DECLARATION.exec(text.slice(docstring.index + comment.length))?.[1];
    return [...lines.matchAll(EXAMPLE)].map((example) => ({
      name,
      line: lineAt(text, docstring.index) + lineAt(lines, example.index),
      code: (example[1] as string).trimEnd(),
    }));
  });
}

/** The line of an index, 1-based. */
function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

const AsyncFunction = (async () => {}).constructor as new (...args: string[]) => () => Promise<unknown>;

/** Whether a text can be compiled as the body of an asynchronous function. */
export function isCode(text: string): boolean {
  try {
    new AsyncFunction(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The statements of an example. A comment behind a statement, or on the lines after it, is its claim; one before the
 * first statement, or after an empty line, is prose.
 */
export function statementsOf(code: string): Statement[] {
  const statements: { code: string; claim: string | undefined }[] = [];
  let open = '';
  let last: { code: string; claim: string | undefined } | undefined;
  for (const line of code.split('\n')) {
    const comment = /^\s*\/\/ ?(.*)$/.exec(line)?.[1];
    if (open === '' && comment !== undefined) {
      if (last !== undefined) last.claim = last.claim === undefined ? comment : `${last.claim}\n${comment}`;
      continue;
    }
    if (open === '' && line.trim() === '') {
      last = undefined;
      continue;
    }
    const [, before = line, claim] = /^(.*[;}])\s+\/\/ (.*)$/.exec(line) ?? [];
    open += `${before}\n`;
    if (!/[;}]\s*$/.test(withoutComments(open)) || !isCode(open)) continue;
    last = { code: open.trim(), claim };
    statements.push(last);
    open = '';
  }
  if (open !== '') throw new Error(`a statement that does not end:\n${open}`);
  return statements;
}
