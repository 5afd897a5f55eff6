/** Portolan's reaction to a changed field of a manifest whose object exists. */
export type ChangeEffect =
  /** The server changes the field, and clears it if a manifest asks for that. */
  | 'update'
  /** The server changes the field but cannot clear it: clearing it is an immutable change. */
  | 'update-not-clear'
  /** The server applies the field only on creation: the change is held, or the object is recreated if the manifest allows it. */
  | 'recreate-or-hold'
  /** The field cannot be changed: the change is held. */
  | 'hold'
  /** The field identifies the object: the plan is about the other object, or moves the object there. */
  | 'other-object'
  /** Only a creation uses the field; it is not compared afterwards. */
  | 'creation-only'
  /** The field is never sent to the platform. */
  | 'local';

/** The source from which the present value of a field is read. */
export type ReadBack = 'own listing' | 'listing of all rules' | 'images of the components' | 'never' | 'not sent';

export interface DialectEffect {
  readonly change: ChangeEffect;
  readonly readBack: ReadBack;
}

/** The effects of one field of a manifest, or of all fields below it, on a server of each dialect. */
export interface FieldEffect {
  /** The path in the form of `Field.path`: `spec.ports[].alias`. */
  readonly path: string;
  readonly documented: DialectEffect;
  readonly extended: DialectEffect;
}

export const LOCAL: DialectEffect = { change: 'local', readBack: 'not sent' };
export const ADDRESS: DialectEffect = { change: 'other-object', readBack: 'own listing' };
export const CREATION_ONLY: DialectEffect = { change: 'creation-only', readBack: 'never' };
export const UPDATE: DialectEffect = { change: 'update', readBack: 'own listing' };

/** Returns the same effect for both dialects. */
export function inBoth(path: string, effect: DialectEffect): FieldEffect {
  return { path, documented: effect, extended: effect };
}

/** Returns the fields that have no fields below them. */
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
