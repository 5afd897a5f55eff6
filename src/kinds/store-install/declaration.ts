import { ADDRESS, CREATION_ONLY, type FieldEffect, inBoth, LOCAL } from '../field-effects.ts';
import type { Identity, KindDeclaration, OtherResources, SpecProblem } from '../kind.ts';
import { documentOf } from '../schema.ts';
import { storeInstallSchema, type StoreInstallSpec } from './spec.ts';
import type { Resource } from '../../model/resource.ts';
import { applicationKey, applicationOf } from '../application/check.ts';
import { durationProblems } from '../problems.ts';

/** An install is done once. Afterwards only its version changes, and only the images of the components show that. */
const installEffects: readonly FieldEffect[] = [
  inBoth('spec.application', ADDRESS),
  inBoth('spec.store', { change: 'hold', readBack: 'never' }),
  {
    path: 'spec.model.id',
    documented: { change: 'hold', readBack: 'never' },
    extended: { change: 'hold', readBack: 'own listing' },
  },
  {
    path: 'spec.model.version',
    documented: { change: 'hold', readBack: 'never' },
    extended: { change: 'update', readBack: 'images of the components' },
  },
  inBoth('spec.build', CREATION_ONLY),
  inBoth('spec.wait', LOCAL),
  inBoth('spec.allowSecondCopy', LOCAL),
];

export const storeInstallDeclaration: KindDeclaration<StoreInstallSpec> = {
  kind: 'StoreInstall',
  trust: 'manifest',
  effects: installEffects,
  specSchema: storeInstallSchema,
  examples: [
    documentOf('StoreInstall', 'shop-db', {
      application: 'shop',
      store: 'main',
      model: { id: '0a1b2c', version: '8.0.36' },
      build: true,
      wait: { for: 'running', timeout: '10m' },
    }),
    documentOf('StoreInstall', 'shop-db-copy', {
      application: 'shop',
      store: 'main',
      model: { id: '0a1b2c', version: '8.0.36' },
      allowSecondCopy: true,
    }),
  ],
  references: { 'spec.application': 'Application', 'spec.store': 'Store' },
  check: checkStoreInstall,
  identities: storeInstallIdentities,
};

function checkStoreInstall(resource: Resource<StoreInstallSpec>): readonly SpecProblem[] {
  const { wait, build } = resource.spec;
  if (wait === undefined) return [];
  const problems = [...durationProblems(wait.timeout, 'spec.wait.timeout')];
  if (!build) {
    problems.push({
      code: 'install/wait-without-build',
      path: 'spec.wait',
      message: 'wait is set, but the components never run: build is not true',
      expected: 'build: true beside wait',
      hint: 'add build: true, or remove wait',
    });
  }
  return problems;
}

/** Claims one install for each store and model of an application, unless the manifest allows a second copy. */
function storeInstallIdentities(resource: Resource<StoreInstallSpec>, set: OtherResources): readonly Identity[] {
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
