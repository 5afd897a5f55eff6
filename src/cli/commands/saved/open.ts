import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../../model/json.ts';
import { planSchemas } from '../../../plan/document.ts';
import { operatorNames } from '../../../configuration/configuration.ts';
import { recheckResources } from '../../../manifest/load.ts';
import { openPlan, type SavedPlan, savedPlanSchema } from '../../../plan/saved.ts';
import type { Surroundings } from '../../session/command.ts';
import { readConfiguration } from '../../session/configuration.ts';
import { readNamedFile } from '../../session/files.ts';
import type { Input } from '../../session/input.ts';
import type { CommitAtHand } from '../../session/revision.ts';
import type { SessionOptions } from '../../session/session.ts';
import { existingLedgerPath } from '../ledger/opening.ts';

/** Whether a value has every part of a saved plan, and nothing else: whoever wrote it, nothing in it surprises. */
export function isSavedPlan(value: unknown): boolean {
  const ajv = new Ajv2020({ strict: true, keywords: ['components'], validateSchema: false });
  const schema: JsonObject = { ...savedPlanSchema, components: { schemas: planSchemas } };
  return ajv.validate(schema, value);
}

/** A plan in a file, read and checked, and what a session needs in place of manifests. */
export interface OpenedPlan {
  readonly file: string;
  readonly saved: SavedPlan;
  readonly input: Input;
}

/** Plans of thousands of applications; a wrong path must not fill the memory. */
const SAVED_BYTES_MAX = 256 * 1024 * 1024;

/** @throws PortolanError `invalid` when it cannot be read or is no saved plan. Faults in its wishes are in `input`. */
export function openSavedPlan(
  file: string,
  options: Pick<SessionOptions, 'config' | 'ledger'>,
  surroundings: Pick<Surroundings, 'declarations' | 'overrides'>,
): OpenedPlan {
  const text = new TextDecoder().decode(readNamedFile(file, 'the saved plan', SAVED_BYTES_MAX));
  const saved = openPlan(text, file, isSavedPlan);
  // An empty one would be made in its place.
  if (saved.ledger !== null && options.ledger !== 'none') existingLedgerPath(options);
  const operator = readConfiguration(options.config, surroundings);
  const isUsable = operator.file !== undefined && operator.problems.length === 0;
  const names = isUsable ? operatorNames(operator.configuration) : undefined;
  const { desired, problems } = recheckResources(surroundings.declarations, saved.desired, file, names);
  const commit = saved.commit === null ? undefined : commitOf(saved.commit, saved.basis);
  return {
    file,
    saved,
    input: {
      ...operator,
      desired,
      commit,
      files: 0,
      paths: [],
      misnamed: [],
      problems: [...operator.problems, ...problems],
    },
  };
}

/** Git was asked when the plan was made, and is not needed any more. */
function commitOf({ id, name }: NonNullable<SavedPlan['commit']>, basis: SavedPlan['basis']): CommitAtHand {
  return {
    id,
    name,
    descentFrom: async (ancestor) => {
      if (ancestor === id) return 'descends';
      return ancestor === basis?.commit ? (basis.descent ?? 'unknown') : 'unknown';
    },
  };
}
