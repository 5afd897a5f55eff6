import { invalidInput, PortolanError } from '../model/errors.ts';
import type { ResourceId } from '../model/ids.ts';
import type { PlanDocument } from '../model/plan-document.ts';
import { planDocument } from '../plan/document.ts';
import { adoptionOf } from './adopted-part.ts';
import type { ControllerApi } from './api.ts';
import { type Core, known } from './core.ts';
import { draftEvent } from './events.ts';
import { type AppRecord, historyRow } from './ledger-records.ts';
import { decide } from './decide.ts';
import { alone } from './manual.ts';
import { planWorks } from './planning.ts';
import { platformUnit } from './replicas/leadership.ts';

type Commands = Pick<ControllerApi, 'planAdoption' | 'adopt'>;

/** Returns the commands by which a person lets a manifest take over an existing resource of the platform. */
export function adoptionCommands(core: Core): Commands {
  const planAdoption: Commands['planAdoption'] = async (id, resource, signal) => {
    const record = known(core, id);
    mustBeHeld(record, resource);
    const document = await planWorks(core, [record.work], signal, resource);
    const [scope] = document.scopes;
    if (scope === undefined) return document;
    return planDocument({ ...document, scopes: [adoptionOf(scope, resource)], notes: [] });
  };
  return {
    planAdoption,
    adopt: async (id, resource, { by, reason, digest }, signal) => {
      const unit = platformUnit(known(core, id).status.platform);
      return alone(core, { key: id, unit }, signal, async () => {
        const record = known(core, id);
        const { adopting } = record.kept;
        // A double click requests one adoption.
        if (adopting?.resource === resource && adopting.digest === digest) return;
        const plan = await planAdoption(id, resource, signal);
        if (plan.digest !== digest || plan.scopes.length === 0) throw otherAdoption(resource, digest, plan);
        const detail = { by, reason, resource, digest };
        await decide(core, record, {
          change: { adopting: { resource, digest, by, reason, atMs: core.options.clock.now() } },
          line: historyRow('adoption', { application: id, ...detail }),
          event: draftEvent('object.adopted', `${by} lets ${id} adopt ${resource}: ${reason}`, { resource, detail }),
        });
        core.queue.restart(id, `adoption by ${by}`);
      });
    },
  };
}

/** @throws PortolanError where the last pass did not hold the resource: there is nothing to adopt. */
function mustBeHeld({ id, status }: AppRecord, resource: ResourceId): void {
  const found = status.resources.find((one) => one.id === resource);
  if (found !== undefined && found.holds.length > 0) return;
  throw invalidInput(
    'controller/nothing-to-adopt',
    `${resource} of ${id} is not held. Nothing was adopted.`,
    'Adopt a resource that is held because it exists and the ledger has no record of it; portolan status shows the holds.',
  );
}

function otherAdoption(resource: ResourceId, digest: string, plan: PlanDocument): PortolanError {
  const [failure] = plan.unobserved;
  if (failure !== undefined) return new PortolanError(failure);
  return new PortolanError({
    code: 'controller/other-plan',
    disposition: 'ask-human',
    message: `The adoption of ${resource} has the digest ${plan.digest}, not ${digest}: the platform or the manifest changed. Nothing was adopted.`,
    remedy: 'Look at the adoption again, and confirm what it shows now.',
  });
}
