/** Ends a `switch` over a union: a forgotten case fails the type check, and at run time says which value came. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
