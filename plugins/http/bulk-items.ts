import { jsonOf } from './answer.ts';

/** What became of a document of a bulk request of Elasticsearch. */
export interface BulkItem {
  readonly status: number;
  readonly error?: unknown;
}

/** The error of an item whose id is there already. All other ones with 409 are failures. */
const IS_THERE = 'version_conflict_engine_exception';

/**
 * The items of an answer to a bulk request, `{"items": [{"create": {"status": 201}}, …]}`; undefined if it is none.
 *
 * @param action of the request. Default: any.
 */
export function bulkItems(text: string, action?: string): readonly BulkItem[] | undefined {
  const items = (jsonOf(text) as { readonly items?: unknown } | null | undefined)?.items;
  if (!Array.isArray(items)) return undefined;
  const results = items.map((item: Readonly<Record<string, BulkItem | null>> | null) =>
    action === undefined ? Object.values(item ?? {})[0] : item?.[action],
  );
  return results.every((result) => Number.isInteger(result?.status)) ? (results as BulkItem[]) : undefined;
}

/** The status of an item. One with an id that is there already was stored by an earlier request. */
export function statusOf(item: BulkItem): number {
  return item.status === 409 && errorType(item) === IS_THERE ? 200 : item.status;
}

/** The kind of an error, which is an identifier: its reason may quote events. */
export function errorType(result: unknown): string | undefined {
  const type = (result as { readonly error?: { readonly type?: unknown } } | null | undefined)?.error?.type;
  return typeof type === 'string' && /^[a-z][a-z\d_]{0,99}$/.test(type) ? type : undefined;
}
