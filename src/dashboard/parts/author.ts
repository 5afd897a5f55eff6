/** Returns the name without the address: `Ann Berg <ann@example.com>` → `Ann Berg`. */
export function authorName(author: string): string {
  return author.replace(/ *<[^<>]*>$/, '') || author;
}
