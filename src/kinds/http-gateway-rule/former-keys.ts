import type { DatabaseSync } from 'node:sqlite';
import { canonicalJson, type Json, type JsonObject } from '../../model/json.ts';
import { GATEWAY_RULE } from './name.ts';

/**
 * Up to schema 1 the key of a gateway rule was `rule/<component>/<port>/<domain><path>`, without its protocol, so that http and
 * https for one domain and path were one object. These functions give such rows their present keys. They never change after a
 * release, because they read ledgers of earlier versions.
 */

/** The columns of the table `object` that these functions read and rewrite. */
interface ObjectKeys {
  readonly uid: string;
  readonly kind: string;
  readonly natural_key: string;
  readonly remote_aux: string;
  readonly last_applied: string;
}

/** The columns of the table `intent` that these functions read and rewrite. */
interface IntentKeys {
  readonly uid: string;
  readonly resource: string;
  readonly action: string;
}

/** Matches a key: its prefix, the protocol, and `domain/path`. A former key has no protocol. */
const PARTS = /^(.*:HttpGatewayRule:)?(rule\/[^/]+\/\d+\/)(https?:\/\/)?(.+)$/s;

/** Returns a natural key or uid with its protocol; undefined: it has one already, or is not that of a rule. */
function withProtocol(key: string, protocol: string): string | undefined {
  const [, before = '', place, named, address] = PARTS.exec(key) ?? [];
  return place === undefined || named !== undefined ? undefined : `${before}${place}${protocol}://${address}`;
}

/** Returns the uid of a rule's object before keys contained the protocol; undefined: there is none. */
export function formerUid(uid: string): string | undefined {
  const [, before, place, named, address] = PARTS.exec(uid) ?? [];
  return before === undefined || named === undefined ? undefined : `${before}${place}${address}`;
}

/**
 * Returns a row with its present key. The protocol follows from the certificate that was last applied. Without one it is not
 * recorded (`protocolUnrecorded`), and is that of the existing rule.
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

/** Returns the row of an intent with its present key. */
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

/** Gives all rows of a ledger their present keys, as part of a migration. */
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
