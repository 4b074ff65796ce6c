import { jsonOf } from './answer.ts';

/** What became of a document of a bulk request of Elasticsearch. */
export interface BulkItem {
  /** `create`, `index`, `update` or `delete`. */
  readonly action: string;
  readonly status: number;
  readonly error?: unknown;
}

/** Bytes of an answer that has an item for each event. */
export const MOST_OF_ITEM_ANSWER = 16 * 1024 * 1024;

/** The error of a document whose id is there already, if it was to be created. All other ones with 409 are failures. */
const IS_THERE = 'version_conflict_engine_exception';

/**
 * The items of an answer to a bulk request, `{"items": [{"create": {"status": 201}}, …]}`; undefined if it is none.
 *
 * @param action of the request. Default: any.
 */
export function bulkItems(text: string, action?: string): readonly BulkItem[] | undefined {
  const items = (jsonOf(text) as { readonly items?: unknown } | null | undefined)?.items;
  if (!Array.isArray(items)) return undefined;
  const results = items.map((item: Readonly<Record<string, object | null>> | null) => {
    const [name = '', result] = Object.entries(item ?? {})[0] ?? [];
    return action === undefined || action === name ? { ...result, action: name } : undefined;
  });
  const isResult = (result: object | undefined): result is BulkItem =>
    Number.isInteger((result as BulkItem | undefined)?.status);
  return results.every(isResult) ? results : undefined;
}

/** The status of an item. One to be created whose id is there already was stored by an earlier request. */
export function statusOf(item: BulkItem): number {
  const isThere = item.action === 'create' && item.status === 409 && errorType(item) === IS_THERE;
  return isThere ? 200 : item.status;
}

/** The kind of an error, which is an identifier: its reason may quote events. */
export function errorType(result: unknown): string | undefined {
  const type = (result as { readonly error?: { readonly type?: unknown } } | null | undefined)?.error?.type;
  return typeof type === 'string' && /^[a-z][a-z\d_]{0,99}$/.test(type) ? type : undefined;
}
