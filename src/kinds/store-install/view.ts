import { type KindView, resourceLine, resourcesOf } from '../view.ts';
import { STORE_INSTALL } from './name.ts';
import type { StoreInstallSpec } from './spec.ts';
import { installKey } from './steps.ts';

/** Shows installs. Their components are shown below them. */
export const installView: KindView = {
  noun: 'install',
  // Recorded values are not compared: what the platform reports of an install stays old after an upgrade.
  fields({ spec }, objects) {
    const { store, model } = spec as StoreInstallSpec;
    const { lastApplied = {} } = objects.find(({ state }) => state !== 'gone') ?? {};
    return [
      { path: 'store', desired: store, lastApplied: lastApplied['store'], isHidden: true },
      { path: 'model.id', desired: model.id, lastApplied: lastApplied['modelId'], isHidden: true },
      { path: 'model.version', desired: model.version, lastApplied: lastApplied['modelVersion'], isHidden: true },
    ];
  },
  lines: async (context) =>
    resourcesOf<StoreInstallSpec>(STORE_INSTALL, context).map((install) => {
      const { model, store } = install.spec;
      const facts = `${model.id} ${model.version} from Store/${store}`;
      return { ...resourceLine('install', install), key: installKey(install.name), facts };
    }),
};
