import * as s from './schema-words.ts';

/** The replicas of the controller and the units that they lead: types, and the JSON Schemas of the API. */

const replicaSchema = s.objectOf('One process of the controller.', {
  name: s.text,
  version: s.text,
  // The URL of its API for users; null: unknown.
  address: s.nullable(s.text),
  startedMs: s.time,
  // The time since its last heartbeat, by the clock of the database.
  seenAgoMs: s.count,
  // It is ending, and hands its units over.
  isDraining: s.trueOrFalse,
  // It answered this request.
  isSelf: s.trueOrFalse,
  // The number of units that it leads.
  leads: s.count,
});
export type ReplicaState = s.TypeOf<typeof replicaSchema>;

const unitSchema = s.objectOf('A platform or a source, which at most one replica changes at any time.', {
  // `platform:NAME` or `source:NAME`.
  unit: s.text,
  type: s.literal('platform', 'source'),
  name: s.text,
  // null: no replica leads it at present.
  leader: s.nullable(s.text),
  // The epoch of the present leader, or of the last one; null: it never had one.
  epoch: s.nullable(s.count),
  // The start of that epoch.
  sinceMs: s.nullable(s.time),
  // The time until another replica may take it, unless the leader renews its lease; null: no other process can.
  leaseLeftMs: s.nullable(s.count),
  // A live replica can lead it, or none is live. false: it was led before, and no configuration of a live replica has it any more.
  isConfigured: s.trueOrFalse,
});
export type UnitState = s.TypeOf<typeof unitSchema>;

const replicasSchema = s.objectOf('All processes of the controller, and the leader of each platform and source.', {
  // Whether several processes can share the ledger. Otherwise, one process leads everything.
  isShared: s.trueOrFalse,
  // When this was read from the database, and whether that succeeded the last time.
  asOfMs: s.time,
  isCurrent: s.trueOrFalse,
  // By name.
  replicas: s.arrayOf(replicaSchema),
  // By unit.
  units: s.arrayOf(unitSchema),
});
export type ReplicaGroup = s.TypeOf<typeof replicasSchema>;

/** The schemas of the API, by name. */
export const replicasSchemas = { Replicas: replicasSchema };
