import { componentOf } from '../../platform/decode.ts';
import { recordOf } from '../../platform/envelope.ts';
import { type Decoded, decides, listDecoder, recordReader, shown } from '../../platform/record-fields.ts';
import type { ComponentRecord } from '../../platform/records.ts';

/** A build of a component. */
export interface BuildEvent {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly startedMs: number | null;
  /** The platform's message; empty if there is none. */
  readonly message: string;
}

export const installedTable = {
  modelId: decides('app_model_id', 'id'),
  // Export writes it into a manifest, where it decides about upgrades.
  reportedVersion: decides('current_version', 'text', null),
  marketName: decides('market_name', 'text', null),
  installGroupId: decides('upgrade_group_id', 'integer', null),
  name: shown('app_model_name', 'text', null),
};

/** An installed model; two copies are two equal entries. `reportedVersion` stays old after an upgrade. */
export type InstalledModel = Decoded<typeof installedTable>;

/** The field of an install's answer; its components have their own table. */
export const installTable = {
  appId: decides('ID', 'decimal'),
};

export type InstallRecord = Decoded<typeof installTable> & {
  /** All components of the application, not only the new ones. */
  readonly components: readonly ComponentRecord[];
};

export const decodeInstalled = listDecoder(installedTable);
const installOf = recordReader(installTable);

export function decodeInstall(json: unknown, where: string): InstallRecord {
  const fields = recordOf(json, where);
  if (!Array.isArray(fields.raw('service_list'))) throw fields.drift('service_list', 'a list of components');
  return { ...installOf(fields), components: fields.records('service_list').map(componentOf) };
}
