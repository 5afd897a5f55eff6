import type { Resource } from '../../model/resource.ts';
import { applicationKey, applicationOf } from '../application/check.ts';
import { durationProblems } from '../durations.ts';
import type { Identity, OtherResources, SpecProblem } from '../kind.ts';
import type { StoreInstallSpec } from './spec.ts';

export function checkStoreInstall(resource: Resource<StoreInstallSpec>): readonly SpecProblem[] {
  const { wait, build } = resource.spec;
  if (wait === undefined) return [];
  const problems = [...durationProblems(wait.timeout, 'spec.wait.timeout')];
  if (!build) {
    problems.push({
      code: 'install/wait-without-build',
      path: 'spec.wait',
      message: 'wait is set, but nothing would ever run: build is not true',
      expected: 'build: true beside wait',
      hint: 'add build: true, or remove wait',
    });
  }
  return problems;
}

/** One install per store and model of an application, unless a second copy is asked for by name. */
export function storeInstallIdentities(resource: Resource<StoreInstallSpec>, set: OtherResources): readonly Identity[] {
  const { spec } = resource;
  const application = applicationOf(set, spec.application);
  if (application === undefined || spec.allowSecondCopy) return [];
  return [
    {
      key: `install of model ${spec.model.id} from store ${spec.store} into ${applicationKey(application)} (without allowSecondCopy: true)`,
      path: 'spec.model.id',
    },
  ];
}
