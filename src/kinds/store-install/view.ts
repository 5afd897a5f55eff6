import { type KindView, resourceLine, resourcesOf } from '../view.ts';
import { STORE_INSTALL } from './name.ts';
import type { StoreInstallSpec } from './spec.ts';
import { installKey } from './steps.ts';

/** Shows installs. Their components are shown below them. */
export const installView: KindView = {
  noun: 'install',
  lines: async (context) =>
    resourcesOf<StoreInstallSpec>(STORE_INSTALL, context).map((install) => {
      const { model, store } = install.spec;
      const facts = `${model.id} ${model.version} from Store/${store}`;
      return { ...resourceLine('install', install), key: installKey(install.name), facts };
    }),
};
