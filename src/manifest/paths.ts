/** Steps from the root of a document: keys of maps and indexes of lists. */
export type Path = readonly (string | number)[];

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Returns a path as text: `spec.ports[1].alias`, `metadata.annotations["portolan/prune"]`; empty for the root. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!PLAIN_KEY.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

const STEP = /\[([0-9]+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([^.[\]]+)/gy;

/** Parses the result of `formatPath`. It stops at the first text that is not a step. */
export function parsePath(text: string): Path {
  const path: (string | number)[] = [];
  for (const [, index, quoted, key] of text.matchAll(STEP)) {
    if (index !== undefined) path.push(Number(index));
    else if (quoted !== undefined) path.push(JSON.parse(quoted) as string);
    else if (key !== undefined) path.push(key);
  }
  return path;
}

/** Returns the steps of a JSON pointer of the validator: `/spec/ports/1`. */
export function pointerSteps(pointer: string): readonly string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function formatPointer(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
