import { invalidInput, type PortolanError } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { PlanDocument } from '../model/plan-document.ts';
import type { Core } from './core.ts';
import type { AppRecord } from './ledger-records.ts';

/** Plans of several applications whose digests are remembered. */
const TOTALS_MAX = 100;

/** Remembers the digests of plans of several applications, to explain a rejected digest. */
export class PlanTotals {
  readonly #applications = new Map<string, readonly string[]>();

  /** Returns the plan itself. */
  note(document: PlanDocument): PlanDocument {
    if (document.scopes.length < 2) return document;
    this.#applications.delete(document.digest);
    this.#applications.set(
      document.digest,
      document.scopes.map(({ application }) => application),
    );
    const [oldest] = this.#applications.keys();
    if (this.#applications.size > TOTALS_MAX && oldest !== undefined) this.#applications.delete(oldest);
    return document;
  }

  /** Returns the number of applications of a plan; undefined: no such plan is known. */
  sizeOf(digest: string): number | undefined {
    return this.#applications.get(digest)?.length;
  }
}

/** Returns the error for a digest that approves nothing of an application. */
export function rejectedDigest(core: Core, totals: PlanTotals, record: AppRecord, digest: string): PortolanError {
  const { id, status } = record;
  const { approval } = status;
  const name = id.slice(id.indexOf('/') + 1);
  const why = explain(core, totals, record, digest);
  const [code, waiting, remedy] =
    approval === null
      ? [
          'controller/nothing-to-approve',
          `No plan of ${id} waits for an approval.`,
          'Run portolan status: it shows the plans that wait for an approval, and each hold with its remedy.',
        ]
      : [
          'controller/other-plan',
          `The plan of ${id} that waits for an approval has the digest ${approval.digest}.`,
          `Run portolan approve ${name}: it shows this plan and asks.`,
        ];
  const message = `The digest ${digest} was rejected: ${why}. ${waiting} Nothing was approved.`;
  return invalidInput(code, message, remedy);
}

/** Returns what a rejected digest stands for, as far as this process knows. */
function explain(core: Core, totals: PlanTotals, { id, status }: AppRecord, digest: string): string {
  const { approval, pending } = status;
  const all = [...core.records.values()];
  const other = all.find((one) => one.id !== id && [one.status.approval, one.status.pending].some(has(digest)));
  if (other !== undefined) return `it is the digest of the plan of ${other.id}`;
  const total = totals.sizeOf(digest);
  if (total !== undefined)
    return `it is the total digest of a plan of ${total} applications, and each application is approved with its own digest`;
  if (has(digest)(pending)) return `the plan with this digest requires no approval`;
  const given = lastEvent(core, 'approval.given', id, digest);
  const ended = lastEvent(core, 'approval.ended', id, digest);
  if (given !== undefined && ended !== undefined && ended >= given)
    return `its approval ended at ${ended}, because the plan had changed before it was carried out`;
  if (given !== undefined) return `the plan with this digest was approved at ${given}`;
  const held = lastEvent(core, 'approval.needed', id, digest);
  if (held !== undefined) return `the plan with this digest was held at ${held}, and the plan has changed since`;
  if (approval?.digest.startsWith(digest) === true) return 'it is only the beginning of a digest';
  return `no plan with this digest is known. It may be of an earlier state, or the total digest of a plan of several applications`;
}

function has(digest: string): (plan: { readonly digest: string } | null) => boolean {
  return (plan) => plan?.digest === digest;
}

/** Returns the time of the last stored event about a plan, as RFC 3339. */
function lastEvent({ events }: Core, type: string, id: ResourceId, digest: string): string | undefined {
  const found = events
    .since(0, Number.POSITIVE_INFINITY)
    .events.findLast(
      (event) =>
        event.type === type && event.application === id && (event.detail as JsonObject | null)?.['digest'] === digest,
    );
  return found && new Date(found.atMs).toISOString();
}
