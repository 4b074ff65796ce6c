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
  70: 'CANNOT_CONVERT_TYPE',
  72: 'CANNOT_PARSE_NUMBER',
  73: 'UNKNOWN_FORMAT',
  81: 'UNKNOWN_DATABASE',
  115: 'UNKNOWN_SETTING',
  117: 'INCORRECT_DATA',
  128: 'TOO_LARGE_ARRAY_SIZE',
  131: 'TOO_LARGE_STRING_SIZE',
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
  321: 'VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE',
  349: 'CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN',
  376: 'CANNOT_PARSE_UUID',
  407: 'DECIMAL_OVERFLOW',
  467: 'CANNOT_PARSE_BOOL',
  469: 'VIOLATED_CONSTRAINT',
  497: 'ACCESS_DENIED',
  516: 'AUTHENTICATION_FAILED',
  675: 'CANNOT_PARSE_IPV4',
  676: 'CANNOT_PARSE_IPV6',
  691: 'UNKNOWN_ELEMENT_OF_ENUM',
};

/** Errors of single rows. Older servers answer 500 with them, and any server may answer 200. */
const ROW_ERROR =
  /, (?:CANNOT_PARSE_\w+|CANNOT_CONVERT_TYPE|TYPE_MISMATCH|INCORRECT_DATA|TOO_LARGE_(?:ARRAY|STRING)_SIZE|VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE|DECIMAL_OVERFLOW|UNKNOWN_ELEMENT_OF_ENUM|CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN|VIOLATED_CONSTRAINT)$/;

/** Whether an error, as {@link clickHouseError} names it, says that the server cannot store a row, now or later. */
export const isRowError = (serverError: string | undefined): boolean => ROW_ERROR.test(serverError ?? '');

/** What tells the error of an answer of ClickHouse. */
interface ClickHouseAnswer {
  /** The header `X-ClickHouse-Exception-Code`, or the trailer; servers before version 19 do not send it. */
  readonly exceptionCode: string | undefined;
  /** Whether there is a header that only ClickHouse sends. A proxy may leave them out. */
  readonly isClickHouse: boolean;
  /** The body, or its start and its end. Its message may quote events, so nothing but the number is shown. */
  readonly text: string;
}

/** How a body starts that is an exception: in old versions, `Code: 27, e.displayText() = DB::Exception: …`. */
const EXCEPTION = /^\s*Code: (\d{1,5})[,.] (?:e\.displayText\(\) = )?DB::Exception/;
/** ClickHouse answers an INSERT with an empty body. An exception may follow other output, or be within JSON. */
const CODE_ANYWHERE = /\bCode: (\d{1,5})[,.]/;
const EXCEPTION_ANYWHERE = /\bDB::Exception\b|__exception__/;

/**
 * The error that ClickHouse reports, whatever the status of the answer: an exception can come after it has sent 200. For
 * messages: `ClickHouse error 60, UNKNOWN_TABLE`. Undefined if there is none.
 *
 * @example
 * clickHouseError({ exceptionCode: '60', isClickHouse: true, text: '' }); // 'ClickHouse error 60, UNKNOWN_TABLE'
 * clickHouseError({ exceptionCode: undefined, isClickHouse: true, text: 'Code: 9999, e.displayText() = …' }); // 'ClickHouse error 9999'
 */
export function clickHouseError({ exceptionCode, isClickHouse, text }: ClickHouseAnswer): string | undefined {
  const isKnown = isClickHouse || exceptionCode !== undefined;
  const found = isKnown ? (CODE_ANYWHERE.exec(text) ?? EXCEPTION_ANYWHERE.exec(text)) : EXCEPTION.exec(text);
  const hasCode = exceptionCode !== undefined && exceptionCode.trim() !== '0';
  if (!hasCode && found === null) return undefined;
  const digits = /^\s*(\d{1,5})\s*$/.exec(hasCode ? exceptionCode : '')?.[1] ?? found?.[1];
  if (digits === undefined) return 'a ClickHouse error without a number';
  const name = NAMES[Number(digits)];
  return `ClickHouse error ${digits}${name === undefined ? '' : `, ${name}`}`;
}
