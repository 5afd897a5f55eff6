/** What Portolan does when a field of a manifest changes after its object exists. */
export type ChangeEffect =
  /** The server changes it, and clears it where a manifest can say so. */
  | 'update'
  /** The server changes it, and cannot clear it: clearing it is an immutable change. */
  | 'update-not-clear'
  /** The server applies it only on creation: held, or recreated if the manifest allows it. */
  | 'recreate-or-hold'
  /** Nothing changes it: held. */
  | 'hold'
  /** It says which object is meant: the plan is that of the other object, or moves the object there. */
  | 'other-object'
  /** Only a creation uses it; it is not compared afterwards. */
  | 'creation-only'
  /** It never reaches the platform. */
  | 'local';

/** What shows the present value of a field. */
export type ReadBack = 'own listing' | 'listing of all rules' | 'images of the components' | 'never' | 'not sent';

export interface DialectEffect {
  readonly change: ChangeEffect;
  readonly readBack: ReadBack;
}

/** What a server of each dialect does with one field of a manifest, or with all fields below it. */
export interface FieldEffect {
  /** As in `Field.path`: `spec.ports[].alias`. */
  readonly path: string;
  readonly documented: DialectEffect;
  readonly extended: DialectEffect;
}

export const LOCAL: DialectEffect = { change: 'local', readBack: 'not sent' };
export const ADDRESS: DialectEffect = { change: 'other-object', readBack: 'own listing' };
export const CREATION_ONLY: DialectEffect = { change: 'creation-only', readBack: 'never' };
export const UPDATE: DialectEffect = { change: 'update', readBack: 'own listing' };

/** One effect for both dialects. */
export function inBoth(path: string, effect: DialectEffect): FieldEffect {
  return { path, documented: effect, extended: effect };
}

/** Returns the fields that hold a value of their own: those with nothing below them. */
export function leavesOf<F extends { readonly fields: readonly F[] }>(field: F): readonly F[] {
  return field.fields.length === 0 ? [field] : field.fields.flatMap((below) => leavesOf(below));
}

/** Returns the effect that is declared for a path, or for the nearest field above it. */
export function effectOf(effects: readonly FieldEffect[], path: string): FieldEffect | undefined {
  const above = effects.filter(
    (effect) => path === effect.path || path.startsWith(`${effect.path}.`) || path.startsWith(`${effect.path}[]`),
  );
  return above.toSorted((left, right) => right.path.length - left.path.length)[0];
}
