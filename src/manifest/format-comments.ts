import { CST, Lexer } from 'yaml';

/** What stands between values: blanks, line breaks and comments. */
type Filler = CST.SourceToken;
type Block = CST.BlockMap | CST.BlockSequence;

/**
 * Gives comments to what they stand in line with. The parser leaves all comments behind a block to the block as soon as
 * one of them is indented like it; those that stand further left are about what follows.
 */
export function settleComments(tokens: readonly CST.Token[]): void {
  for (const token of tokens) {
    if (token.type !== 'document' || !isBlock(token.value)) continue;
    settleWithin(token.value);
    const freed = takeOutdented(token.value);
    if (freed.length > 0) token.end = [...freed, ...(token.end ?? [])];
  }
}

function settleWithin({ items }: Block): void {
  // Upwards, so that what one item frees stands in the next one already when that is looked at.
  for (let index = 0; index < items.length; index += 1) {
    const { value } = items[index] as Block['items'][number];
    if (!isBlock(value)) continue;
    settleWithin(value);
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

/** Takes from the end of a block the comments from the first one on that stands further left than the block. */
function takeOutdented(block: Block): Filler[] {
  const last = block.items.at(-1);
  if (last === undefined || last.value !== undefined || last.key !== undefined || last.sep !== undefined) return [];
  const { start } = last;
  const first = start.findIndex(({ type, indent }) => type === 'comment' && indent < block.indent);
  if (first === -1) return [];
  // With the blank lines above it; the line break before those ends the comment that stays.
  let from = first;
  while (from > 0 && start[from - 1]?.type !== 'comment') from -= 1;
  if (from > 0 && start[from]?.type === 'newline') from += 1;
  const freed = start.slice(from);
  if (from === 0) block.items.pop();
  else last.start = start.slice(0, from);
  return freed;
}

/** Every comment of a text, as it stands there. */
export function commentsOf(text: string): readonly string[] {
  const comments: string[] = [];
  let isScalarText = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (!isScalarText && lexeme.startsWith('#')) comments.push(lexeme.trimEnd());
    isScalarText = lexeme === CST.SCALAR;
  }
  return comments;
}
