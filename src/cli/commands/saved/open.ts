import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../../model/json.ts';
import { planSchemas } from '../../../model/plan-document.ts';
import { operatorNames } from '../../../configuration/configuration.ts';
import { recheckResources } from '../../../manifest/load.ts';
import { openPlan, type SavedPlan, savedPlanSchema } from '../../../plan/saved.ts';
import type { Surroundings } from '../../session/command.ts';
import { readConfiguration } from '../../session/configuration.ts';
import { readNamedFile } from '../../session/files.ts';
import type { Input } from '../../session/input.ts';
import type { LoadedCommit } from '../../session/revision.ts';
import type { SessionOptions } from '../../session/session.ts';
import { existingLedgerPath } from '../ledger/opening.ts';

/** Returns whether a value matches the schema of saved plans exactly. */
export function isSavedPlan(value: unknown): boolean {
  const ajv = new Ajv2020({ strict: true, keywords: ['components'], validateSchema: false });
  const schema: JsonObject = { ...savedPlanSchema, components: { schemas: planSchemas } };
  return ajv.validate(schema, value);
}

/** Holds a checked saved plan, and the input that a session uses instead of manifests. */
export interface OpenedPlan {
  readonly file: string;
  readonly saved: SavedPlan;
  readonly input: Input;
}

/** Enough for plans of thousands of applications; a wrong path must not fill the memory. */
const SAVED_BYTES_MAX = 256 * 1024 * 1024;

/**
 * Reads a saved plan. Faults of its manifests are in `input`.
 * @throws PortolanError `invalid` when the file cannot be read or is not a saved plan.
 */
export function openSavedPlan(
  file: string,
  options: Pick<SessionOptions, 'config' | 'ledger'>,
  surroundings: Pick<Surroundings, 'declarations' | 'overrides'>,
): OpenedPlan {
  const text = new TextDecoder().decode(readNamedFile(file, 'the saved plan', SAVED_BYTES_MAX));
  const saved = openPlan(text, file, isSavedPlan);
  // Otherwise an empty ledger would be created.
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

/** Returns the commit of a saved plan. Its descent was determined when the plan was made, so git is not needed. */
function commitOf({ id, name }: NonNullable<SavedPlan['commit']>, basis: SavedPlan['basis']): LoadedCommit {
  return {
    id,
    name,
    descentFrom: async (ancestor) => {
      if (ancestor === id) return 'descends';
      return ancestor === basis?.commit ? (basis.descent ?? 'unknown') : 'unknown';
    },
  };
}
