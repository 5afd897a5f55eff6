/** Work that yields between its parts, so that a process with other work can do that in between. */
export type Parts<Result> = Generator<undefined, Result>;

/** Does all parts at once. */
export function inOneGo<Result>(parts: Parts<Result>): Result {
  for (let part = parts.next(); ; part = parts.next()) if (part.done === true) return part.value;
}

/** @param pause is awaited between two parts. */
export async function inParts<Result>(parts: Parts<Result>, pause: () => Promise<void>): Promise<Result> {
  for (let part = parts.next(); ; part = parts.next()) {
    if (part.done === true) return part.value;
    await pause();
  }
}
