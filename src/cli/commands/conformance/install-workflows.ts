import { listComponents } from '../../../kinds/component/readings.ts';
import { join } from 'node:path';
import { UNKNOWN_MODEL } from './expectations.ts';
import { actionsOn } from './ground.ts';
import type { Workflow } from './scene.ts';
import { hasNeeds, portText, seePort } from './suite.ts';

/** Workflows with installs. */
export const installWorkflows: readonly Workflow[] = [
  {
    // The first install into an empty application, and its upgrade. There, only the image shows the upgrade.
    id: 'upgrade',
    title: 'an install and its upgrade',
    needs: ['rules', 'store'],
    async run(scene) {
      const { server, store, write, application, apply, plan, check } = scene;
      const app = await scene.empty();
      const images = async (): Promise<readonly string[]> => {
        const listed = await server.read(listComponents, app);
        return listed?.map(({ image }) => image) ?? [];
      };
      write(application(app), scene.install('installed'));
      const installed = await apply('install', 'apply an install into an empty application');
      scene.leaveInstall(app, 'a workflow');
      await plan('install-again', 'the plan afterwards is empty');
      if (!hasNeeds(scene, 'upgrade', 'apply another version', ['later version']) || !installed) return;
      const before = await images();
      write(application(app), scene.install('installed', { model: { id: store?.modelId, version: store?.upgradeTo } }));
      await apply('upgrade', 'apply another version: an upgrade');
      await plan('upgrade-again', 'the plan after an upgrade is empty');
      const after = await images();
      const count = after.length === before.length ? 'as many components' : 'other components';
      const image = after.some((one) => !before.includes(one)) ? 'another image' : 'the same images';
      check('upgrade-state', 'the components afterwards', 'as many components, another image', `${count}, ${image}`);
    },
  },
  {
    // A component that moved to another application is held. The rest of its former application is not.
    id: 'moved-component',
    title: 'a component that moved to another application',
    needs: ['rules', 'store'],
    async run(scene) {
      const { server, port, write, application, component, check } = scene;
      const former = await scene.empty();
      const own = (await server.read(listComponents, former))?.[0];
      if (own === undefined)
        return scene.skip(
          'moved-component',
          'a component that moved',
          'there is no second application with a component',
        );
      const { changePort, deletePort, portOf } = actionsOn(server, former, own.serviceId);
      const before = portText(await seePort(scene, port));
      const stayed = component({ outer: false }, { serviceId: own.serviceId }, 'own');
      write(application(former), stayed, component());
      await scene.apply('moved-component', 'apply holds the component that moved', 4);
      const reconciled = (await portOf(port))?.inner === true ? 'reconciled' : 'not reconciled';
      check('moved-component-rest', 'the rest of its former application', 'reconciled', reconciled);
      const after = portText(await seePort(scene, port));
      check('moved-component-state', 'the component that moved', before, after);
      for (const action of ['close_outer', 'close_inner'] as const) await changePort(port, { action });
      await deletePort(port);
    },
  },
  {
    // Where only a count shows installs, a new ledger must not install without confirmation.
    id: 'unconfirmed',
    title: 'a first install without confirmation',
    needs: ['store'],
    async run({ isExtended, place, write, application, install, skip, checkExit }) {
      if (isExtended)
        return skip('unconfirmed', 'an install without confirmation', 'the server lists what is installed');
      write(application(), install('unconfirmed'));
      const run = await place.run('apply', '-f', join(place.folder, 'manifests.yaml'), '--yes');
      checkExit('unconfirmed', 'an install with a new ledger is held without confirmation', 4, run);
    },
  },
  {
    id: 'refused-install',
    title: 'a refused install is a failure, and not in doubt',
    needs: ['store'],
    async run({ place, write, application, install, apply, check }) {
      write(application(), install('refused', { model: { id: UNKNOWN_MODEL, version: '1.0' } }));
      await apply('refused-install', 'apply of a model that the store does not have', 1);
      const list = JSON.parse((await place.run('ledger', 'list', '-o', 'json')).out) as {
        intents?: readonly unknown[];
      };
      check('refused-install-doubt', 'requests in doubt afterwards', '0', String(list.intents?.length));
    },
  },
];
