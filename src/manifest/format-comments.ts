import { CST, Lexer } from 'yaml';

/** Tokens between values: blanks, line breaks and comments. */
type Filler = CST.SourceToken;
type Block = CST.BlockMap | CST.BlockSequence;

/**
 * Assigns comments to the block with the same indent. The parser assigns all comments after a block to that block if one of
 * them is indented like it; comments further left belong to what follows.
 */
export function assignComments(tokens: readonly CST.Token[]): void {
  for (const token of tokens) {
    if (token.type !== 'document' || !isBlock(token.value)) continue;
    assignWithin(token.value);
    const freed = takeOutdented(token.value);
    if (freed.length > 0) token.end = [...freed, ...(token.end ?? [])];
  }
}

function assignWithin({ items }: Block): void {
  // In ascending order, so that comments freed by one item are in the next one when that is processed.
  for (let index = 0; index < items.length; index += 1) {
    const { value } = items[index] as Block['items'][number];
    if (!isBlock(value)) continue;
    assignWithin(value);
    const freed = takeOutdented(value);
    if (freed.length === 0) continue;
    const next = items[index + 1];
    if (next === undefined) items.push({ start: freed });
    else next.start = [...freed, ...next.start];
  }
}

function isBlock(token: CST.Token | null | undefined): token is Block {
  return token?.type === 'block-map' || token?.type === 'block-seq';
}

/** Removes from the end of a block the comments that start with the first one further left than the block, and returns them. */
function takeOutdented(block: Block): Filler[] {
  const last = block.items.at(-1);
  if (last === undefined || last.value !== undefined || last.key !== undefined || last.sep !== undefined) return [];
  const { start } = last;
  const first = start.findIndex(({ type, indent }) => type === 'comment' && indent < block.indent);
  if (first === -1) return [];
  // Includes the blank lines above it; the line break before those ends the remaining comment.
  let from = first;
  while (from > 0 && start[from - 1]?.type !== 'comment') from -= 1;
  if (from > 0 && start[from]?.type === 'newline') from += 1;
  const freed = start.slice(from);
  if (from === 0) block.items.pop();
  else last.start = start.slice(0, from);
  return freed;
}

/** Returns all comments of a text. */
export function commentsOf(text: string): readonly string[] {
  const comments: string[] = [];
  let isScalarText = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (!isScalarText && lexeme.startsWith('#')) comments.push(lexeme.trimEnd());
    isScalarText = lexeme === CST.SCALAR;
  }
  return comments;
}
