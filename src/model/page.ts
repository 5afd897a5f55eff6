/** One page of a list, and the cursor of the next page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page; null on the last page. */
  readonly nextCursor: string | null;
}
