/** Work that yields between its parts, so that the process can do other work in between. */
export type Parts<Result> = Generator<undefined, Result>;

/** Runs all parts without a pause. */
export function inOneGo<Result>(parts: Parts<Result>): Result {
  for (let part = parts.next(); ; part = parts.next()) if (part.done === true) return part.value;
}

/** Runs all parts. @param pause is awaited between two parts. */
export async function inParts<Result>(parts: Parts<Result>, pause: () => Promise<void>): Promise<Result> {
  for (let part = parts.next(); ; part = parts.next()) {
    if (part.done === true) return part.value;
    await pause();
  }
}
