import { join } from 'node:path';
import type { Intent, OwnedObject } from '../../src/model/owned.ts';
import type { FaultRule } from '../../src/sandbox/faults.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { type Sandbox, SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { APPLICATION } from '../controller/shop.ts';
import { configurationFor, folderOf, sandboxFor } from './platform.ts';
import { type Run, runHere } from './running.ts';
import { PushedClock } from './scene.ts';

const store = `---
apiVersion: portolan/v1
kind: Store
metadata: { name: main }
spec: { url: ${demo.storeUrl}, domain: ${demo.storeDomain}, type: ${demo.storeType} }
`;
/** The application `shop` with an install from the store. */
export const shopWithInstall = `${APPLICATION}---
apiVersion: portolan/v1
kind: StoreInstall
metadata: { name: shop-db }
spec:
  application: shop
  store: main
  model: { id: ${demo.mysqlModelId}, version: "8.0.36" }
`;
export const MINUTE_MS = 60_000;

/** One folder with configuration, manifests and ledger, before a sandbox. */
export class Workplace {
  readonly sandbox: Sandbox;
  readonly folder: string;
  readonly clock = new PushedClock();

  constructor(sandbox: Sandbox, manifests: string) {
    this.sandbox = sandbox;
    this.folder = folderOf({ 'portolan.yaml': configurationFor(sandbox.url) + store, 'shop.yaml': manifests });
  }

  static async open(dialect: Dialect, faults: readonly FaultRule[], manifests = shopWithInstall): Promise<Workplace> {
    return new Workplace(await sandboxFor({ dialect, faults }), manifests);
  }

  get ledger(): string {
    return join(this.folder, 'ledger.db');
  }

  run(args: readonly string[], config = join(this.folder, 'portolan.yaml')): Promise<Run> {
    const env = { PORTOLAN_TOKEN: SANDBOX_TOKEN, PORTOLAN_LEDGER: this.ledger, PORTOLAN_CONFIG: config };
    return runHere(args, { env, clock: this.clock });
  }

  apply(...args: readonly string[]): Promise<Run> {
    return this.run(['apply', '-f', join(this.folder, 'shop.yaml'), '--yes', ...args]);
  }

  resolve(...args: readonly string[]): Promise<Run> {
    return this.run(['ledger', 'resolve', ...args]);
  }

  async list(): Promise<{ objects: OwnedObject[]; intents: (Intent & { settles: { isOver: boolean } })[] }> {
    return JSON.parse((await this.run(['ledger', 'list', '-o', 'json'])).out);
  }

  /** Ids of the requests that nobody knows the end of. */
  async doubts(): Promise<string[]> {
    return (await this.list()).intents.map(({ id }) => id);
  }

  installRequests(): number {
    return this.sandbox.requests().filter(({ operation }) => operation === 'install').length;
  }

  installs(): number {
    return [...this.sandbox.state.installs.all()].filter(({ appId }) => appId === demo.appId).length;
  }
}
