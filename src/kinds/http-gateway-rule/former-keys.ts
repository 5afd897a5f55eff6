import type { DatabaseSync } from 'node:sqlite';
import { canonicalJson, type Json, type JsonObject } from '../../model/json.ts';
import { GATEWAY_RULE } from './name.ts';

/**
 * Up to schema 1 the key of a gateway rule was `rule/<component>/<port>/<domain><path>`, without its protocol, so that http and
 * https for one domain and path were one object. These give such rows the keys that they have since. Never changed once
 * released: they read what earlier versions wrote.
 */

/** What these read and rewrite of a row of the table `object`. */
interface ObjectKeys {
  readonly uid: string;
  readonly kind: string;
  readonly natural_key: string;
  readonly remote_aux: string;
  readonly last_applied: string;
}

/** What these read and rewrite of a row of the table `intent`. */
interface IntentKeys {
  readonly uid: string;
  readonly resource: string;
  readonly action: string;
}

/** The protocol, `domain/path` and what stands before them; without a protocol it is a key of before. */
const PARTS = /^(.*:HttpGatewayRule:)?(rule\/[^/]+\/\d+\/)(https?:\/\/)?(.+)$/s;

/** A natural key or the uid of an object, with its protocol; undefined: it has one, or is none of a rule. */
function withProtocol(key: string, protocol: string): string | undefined {
  const [, before = '', place, named, address] = PARTS.exec(key) ?? [];
  return place === undefined || named !== undefined ? undefined : `${before}${place}${protocol}://${address}`;
}

/** The uid that an object of a rule had before its key named the protocol; undefined: it had no other. */
export function formerUid(uid: string): string | undefined {
  const [, before, place, named, address] = PARTS.exec(uid) ?? [];
  return before === undefined || named === undefined ? undefined : `${before}${place}${address}`;
}

/**
 * A row with the key that it has now. The protocol follows from the certificate that was last applied; where none was, it is
 * not on record (`protocolUnrecorded`), and is that of the rule that is there.
 */
export function currentObject<Row extends ObjectKeys>(row: Row): Row {
  if (row.kind !== GATEWAY_RULE || withProtocol(row.uid, '') === undefined) return row;
  const lastApplied = parsed(row.last_applied);
  const remoteAux = parsed(row.remote_aux);
  const asserted = certificateOf(lastApplied);
  const protocol = protocolOf(asserted ?? certificateOf(remoteAux['adopted']));
  const naturalKey = withProtocol(row.natural_key, protocol);
  const uid = withProtocol(row.uid, protocol);
  if (naturalKey === undefined || uid === undefined) return row;
  const remote_aux =
    asserted === undefined ? canonicalJson({ ...remoteAux, protocolUnrecorded: true }) : row.remote_aux;
  return { ...row, uid, natural_key: naturalKey, remote_aux };
}

/** As `currentObject`, of a request that was sent or was about to be. */
export function currentIntent<Row extends IntentKeys>(row: Row): Row {
  if (!row.resource.startsWith(`${GATEWAY_RULE}/`) || withProtocol(row.uid, '') === undefined) return row;
  const action = parsed(row.action);
  const step = recordOf(action['step']);
  const changes = action['changes'];
  const deleted = Array.isArray(changes)
    ? changes.map(recordOf).find((change) => change['path'] === 'certificateId')?.['before']
    : undefined;
  const protocol = protocolOf(certificateOf(step['rule']) ?? deleted);
  const uid = withProtocol(row.uid, protocol);
  const { object } = action;
  if (uid === undefined || typeof object !== 'string') return row;
  const stepKey = typeof step['key'] === 'string' ? withProtocol(step['key'], protocol) : undefined;
  const current = {
    ...action,
    object: withProtocol(object, protocol) ?? object,
    ...(stepKey === undefined ? {} : { step: { ...step, key: stepKey } }),
  };
  return { ...row, uid, action: canonicalJson(current) };
}

/** Gives all rows of a ledger the keys that they have since. Part of a migration. */
export function renameRules(database: DatabaseSync): void {
  const objects = database.prepare('SELECT * FROM object WHERE kind = ?').all(GATEWAY_RULE) as unknown;
  const rename = database.prepare('UPDATE object SET uid = ?, natural_key = ?, remote_aux = ? WHERE uid = ?');
  for (const row of objects as readonly ObjectKeys[]) {
    const { uid, natural_key: key, remote_aux: aux } = currentObject(row);
    if (uid !== row.uid) rename.run(uid, key, aux, row.uid);
  }
  const intents = database.prepare("SELECT * FROM intent WHERE resource LIKE 'HttpGatewayRule/%'").all() as unknown;
  const move = database.prepare('UPDATE intent SET uid = ?, action = ? WHERE id = ?');
  for (const row of intents as readonly (IntentKeys & { readonly id: string })[]) {
    const { uid, action } = currentIntent(row);
    if (uid !== row.uid) move.run(uid, action, row.id);
  }
}

function protocolOf(certificate: Json | undefined): string {
  return typeof certificate === 'number' && certificate > 0 ? 'https' : 'http';
}

function certificateOf(fields: Json | undefined): Json | undefined {
  return recordOf(fields)['certificateId'];
}

function parsed(text: string): JsonObject {
  return recordOf(JSON.parse(text) as Json);
}

function recordOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
