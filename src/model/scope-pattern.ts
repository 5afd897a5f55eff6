/** Patterns `team/region/app` of the operator's settings. */

/**
 * Whether a `team/region/app` of resolved values is what a pattern means: `*` stands for any text within one segment. A
 * value with a slash of its own matches nothing.
 */
export function scopeMatches(pattern: string, scope: string): boolean {
  let known = compiled.get(pattern);
  if (known === undefined) {
    const pieces = pattern.split('*').map((piece) => RegExp.escape(piece));
    known = new RegExp(`^${pieces.join('[^/]*')}$`);
    compiled.set(pattern, known);
  }
  return known.test(scope);
}

/** The few patterns of the operator's settings, each asked at every pass. */
const compiled = new Map<string, RegExp>();

/**
 * Returns whether a pattern may mean an application of which some parts are not known: `undefined` may be anything.
 * @param parts team, region and app.
 */
export function scopeMayMatch(pattern: string, parts: readonly (string | undefined)[]): boolean {
  const pieces = pattern.split('/');
  return parts.every((part, at) => part === undefined || scopeMatches(pieces[at] ?? '', part));
}
