import type { SandboxRequest } from './wire.ts';

const PAGE_SIZE = 10;

/** The part of a list that `page` (from 1) and `page_size` ask for. */
export function pageOf<Item>(
  items: readonly Item[],
  query: SandboxRequest['query'],
): { readonly page: number; readonly pageSize: number; readonly items: readonly Item[] } {
  const page = positive(query['page']) ?? 1;
  const pageSize = positive(query['page_size']) ?? PAGE_SIZE;
  return { page, pageSize, items: items.slice((page - 1) * pageSize, page * pageSize) };
}

function positive(text: string | undefined): number | undefined {
  const number = Number(text);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
