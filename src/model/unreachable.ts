/** Ends a `switch` over a union: a missing case fails the type check, and at run time the error names the value. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
