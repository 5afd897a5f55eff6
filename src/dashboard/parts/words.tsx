/** A text in which commands are in backquotes. They are shown as code. */
export function Words({ text }: { readonly text: string }) {
  const parts = text.split('`');
  // A backquote without a partner is a part of the text.
  if (parts.length % 2 === 0) return <>{text}</>;
  return <>{parts.map((part, at) => (at % 2 === 0 ? part : <code key={`${at} ${part}`}>{part}</code>))}</>;
}

/** Shows the remedy of a problem in a paragraph. */
export function Remedy({ text }: { readonly text: string }) {
  return (
    <p class="remedy">
      <Words text={text} />
    </p>
  );
}
