/** Names of errors that an INSERT meets, as `errorCodeToName` of ClickHouse spells them. */
const NAMES: Readonly<Record<number, string>> = {
  6: 'CANNOT_PARSE_TEXT',
  16: 'NO_SUCH_COLUMN_IN_TABLE',
  25: 'CANNOT_PARSE_ESCAPE_SEQUENCE',
  26: 'CANNOT_PARSE_QUOTED_STRING',
  27: 'CANNOT_PARSE_INPUT_ASSERTION_FAILED',
  33: 'CANNOT_READ_ALL_DATA',
  36: 'BAD_ARGUMENTS',
  38: 'CANNOT_PARSE_DATE',
  41: 'CANNOT_PARSE_DATETIME',
  47: 'UNKNOWN_IDENTIFIER',
  53: 'TYPE_MISMATCH',
  60: 'UNKNOWN_TABLE',
  62: 'SYNTAX_ERROR',
  72: 'CANNOT_PARSE_NUMBER',
  73: 'UNKNOWN_FORMAT',
  81: 'UNKNOWN_DATABASE',
  115: 'UNKNOWN_SETTING',
  117: 'INCORRECT_DATA',
  159: 'TIMEOUT_EXCEEDED',
  164: 'READONLY',
  192: 'UNKNOWN_USER',
  193: 'WRONG_PASSWORD',
  194: 'REQUIRED_PASSWORD',
  202: 'TOO_MANY_SIMULTANEOUS_QUERIES',
  209: 'SOCKET_TIMEOUT',
  210: 'NETWORK_ERROR',
  241: 'MEMORY_LIMIT_EXCEEDED',
  242: 'TABLE_IS_READ_ONLY',
  243: 'NOT_ENOUGH_SPACE',
  252: 'TOO_MANY_PARTS',
  291: 'DATABASE_ACCESS_DENIED',
  349: 'CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN',
  376: 'CANNOT_PARSE_UUID',
  469: 'VIOLATED_CONSTRAINT',
  497: 'ACCESS_DENIED',
  516: 'AUTHENTICATION_FAILED',
  675: 'CANNOT_PARSE_IPV4',
  676: 'CANNOT_PARSE_IPV6',
};

/** Errors of single rows. Older servers answer 500 with them. */
const ROW_ERROR =
  /, (?:CANNOT_PARSE_\w+|TYPE_MISMATCH|INCORRECT_DATA|CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN|VIOLATED_CONSTRAINT)$/;

/** Whether an error, as {@link clickHouseError} names it, says that the server cannot store a row, now or later. */
export const isRowError = (serverError: string | undefined): boolean => ROW_ERROR.test(serverError ?? '');

/** What tells the error of an answer of ClickHouse. */
interface ClickHouseAnswer {
  /** The header `X-ClickHouse-Exception-Code`, which servers before version 19 do not send. */
  readonly exceptionCode: string | undefined;
  /** Whether there is a header that only ClickHouse sends. */
  readonly isClickHouse: boolean;
  /** The body. Its message may quote events, so nothing but the number at its start is shown. */
  readonly text: string;
}

/**
 * The error that ClickHouse reports, for messages: `ClickHouse error 60, UNKNOWN_TABLE`. Undefined if there is none.
 *
 * @example
 * clickHouseError({ exceptionCode: '60', isClickHouse: true, text: '' }); // 'ClickHouse error 60, UNKNOWN_TABLE'
 * clickHouseError({ exceptionCode: undefined, isClickHouse: true, text: 'Code: 9999, e.displayText() = …' }); // 'ClickHouse error 9999'
 */
export function clickHouseError({ exceptionCode, isClickHouse, text }: ClickHouseAnswer): string | undefined {
  if (!isClickHouse && exceptionCode === undefined) return undefined;
  const digits = /^\d{1,5}$/.exec(exceptionCode ?? '')?.[0] ?? /^Code: (\d{1,5})[,.] /.exec(text)?.[1];
  if (digits === undefined) return undefined;
  const name = NAMES[Number(digits)];
  return `ClickHouse error ${digits}${name === undefined ? '' : `, ${name}`}`;
}
