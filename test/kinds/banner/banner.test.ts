import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { kindDeclarations } from '../../../src/configuration/declarations.ts';
import type { KindDeclaration } from '../../../src/kinds/kind.ts';
import { reconciledKinds } from '../../../src/kinds/registry.ts';
import { demo } from '../../../src/sandbox/seeds/demo.ts';
import { runHere } from '../../cli/running.ts';
import { setScene, SHOP } from '../../cli/scene.ts';
import { bannerDeclaration, bannerKind } from './kind.ts';
import { startBannerServer } from './server.ts';

const kinds = {
  declared: async () => new Map([...kindDeclarations, ['Banner', bannerDeclaration as KindDeclaration<unknown>]]),
  reconciled: async () => new Map([...reconciledKinds, ['Banner', bannerKind]]),
};

const banner = (text: string, name = 'sale'): string =>
  `---\napiVersion: portolan/v1\nkind: Banner\nmetadata: { name: ${name} }\nspec: { application: shop, text: ${text} }\n`;

/** The sandbox with banners, a folder with the manifests of one application, and commands that know the kind. */
async function stage(manifest: string) {
  const scene = await setScene({ manifests: { 'shop.yaml': manifest } });
  const server = await startBannerServer(scene.sandbox.url);
  onTestFinished(() => server.close());
  scene.configure({ url: server.url });
  const run = (command: 'plan' | 'apply' | 'status', ...args: string[]) => scene.run(command, args, { kinds });
  const at = ['--config', join(scene.folder, 'portolan.yaml')];
  const portolan = (...args: string[]) => runHere(args, { env: scene.env, clock: scene.clock, kinds });
  return { ...scene, server, at, run, portolan };
}

test('a kind of one folder is explained, and has a schema', async () => {
  const explained = await runHere(['explain', 'banner.spec.text'], { kinds });
  expect(explained.out).toContain('What it says.');
  const kindsShown = await runHere(['explain'], { kinds });
  expect(kindsShown.out).toContain('Banner');
  const schema = await runHere(['schema', 'Banner'], { kinds });
  expect(JSON.parse(schema.out)).toMatchObject({ properties: { kind: { enum: ['Banner'] } } });
  expect((await runHere(['explain', 'Banner'])).code).toBe(3);
});

test('it is validated by its schema and by its own rules, and formatted in the order of its schema', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-banner-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'shop.yaml');
  const validate = async (manifest: string) => {
    writeFileSync(file, manifest);
    const { code, out, err } = await runHere(['validate', '-f', folder], { kinds });
    return { code, said: out + err };
  };
  expect(await validate(SHOP + banner('Hello'))).toMatchObject({ code: 0 });
  expect((await validate(SHOP + banner('" x "'))).said).toContain('the text begins or ends with a blank');
  expect((await validate(SHOP + banner('""'))).said).toContain('spec.text');
  expect((await validate(banner('Hello'))).said).toContain('there is no Application/shop');
  expect((await validate(SHOP + banner('Hello') + banner('Hello'))).code).toBe(3);
  writeFileSync(
    file,
    banner('Hello').replace('{ application: shop, text: Hello }', '{ text: Hello, application: shop }'),
  );
  expect(await runHere(['fmt', folder], { kinds })).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).toContain('{ application: shop, text: Hello }');
});

test('it is planned, applied, seen to drift, corrected, shown and pruned', async () => {
  const { server, write, run, portolan, options, ledgerFile } = await stage(SHOP + banner('Hello'));
  const planned = await run('plan');
  expect(planned.out).toContain('create banner sale');
  expect(await run('apply')).toMatchObject({ code: 0 });
  expect(server.rows).toMatchObject([{ title: 'sale', text_body: 'Hello' }]);
  expect((await run('plan')).out).toContain('in sync');

  server.rows[0] = { banner_id: 'b1', title: 'sale', text_body: 'Defaced' };
  const drifted = await run('plan');
  expect(drifted.out).toContain('update banner sale');
  expect(drifted.out).toContain('drift');
  const tree = await portolan('tree', ...options, '--ledger', ledgerFile, '-o', 'json');
  expect(JSON.parse(tree.out)).toMatchObject({
    applications: [
      {
        children: expect.arrayContaining([
          expect.objectContaining({ type: 'banner', facts: '"Hello"', state: 'drifted' }),
        ]),
      },
    ],
  });
  expect((await run('status')).out).toContain('Banner/sale');
  expect(await run('apply')).toMatchObject({ code: 0 });
  expect(server.rows).toMatchObject([{ text_body: 'Hello' }]);

  write('shop.yaml', SHOP + banner('Another', 'other'));
  expect(await run('apply', '--prune', '--max-prunes', '1')).toMatchObject({ code: 0 });
  expect(server.rows).toMatchObject([{ title: 'other' }]);
  expect((await run('plan', '--prune')).code).toBe(0);
});

test('what somebody else made is held until it is adopted; a refusal is known by the rows of the kind', async () => {
  const { server, write, run } = await stage(SHOP + banner('Hello'));
  server.rows.push({ banner_id: 'b9', title: 'sale', text_body: 'Theirs' });
  const held = await run('plan');
  expect(held.out).toContain('banner sale exists');
  expect(await run('apply', '--adopt', 'Banner/sale')).toMatchObject({ code: 0 });
  expect(server.rows).toMatchObject([{ banner_id: 'b9', text_body: 'Hello' }]);
  write('shop.yaml', SHOP + banner('x'.repeat(60)));
  const refused = await run('apply');
  expect(refused.out + refused.err).toContain('banner is too long');
  expect(server.rows).toMatchObject([{ text_body: 'Hello' }]);
});

test('a write whose answer was lost is decided by looking', async () => {
  const { server, clock, run } = await stage(SHOP + banner('Hello'));
  server.losesNext = true;
  expect((await run('apply')).code).not.toBe(0);
  expect(server.rows).toHaveLength(1);
  expect((await run('plan')).out).toContain('outcome is not known');
  clock.push(10 * 60_000);
  expect(await run('apply')).toMatchObject({ code: 0 });
  expect(server.rows).toHaveLength(1);
  expect((await run('plan')).code).toBe(0);
});

test('it is exported, and the export is proved by an empty plan', async () => {
  const { server, folder, at, portolan } = await stage(SHOP);
  server.rows.push({ banner_id: 'b1', title: 'sale', text_body: 'Hello' });
  const to = join(folder, 'exported');
  mkdirSync(to);
  const app = `${demo.team}/${demo.region}/${demo.appId}`;
  const exported = await portolan('export', '--app', app, '--to', to, ...at);
  expect(exported).toMatchObject({ code: 0 });
  const files = readFileSync(join(to, 'shop.yaml'), 'utf8');
  expect(files).toContain('kind: Banner');
  expect(files).toContain('text: Hello');
});

test('an answer of another server is told from one that has drifted', async () => {
  const { server, run } = await stage(SHOP + banner('Hello'));
  server.rows.push({ name: 'of something else' } as never);
  const planned = await run('plan');
  expect(planned.code).not.toBe(0);
  expect(planned.out).toContain('another server seems to answer at this address');
});
