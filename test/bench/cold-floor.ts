/**
 * The least that a cold plan can cost, in a process as fresh as its own: every file parsed by bare `yaml`, every read asked
 * by our own client with as many at once. Started by `cold-plan.ts`; says the milliseconds of both.
 */
import { listAllRules } from '../../src/kinds/http-gateway-rule/readings.ts';
import { listApplications } from '../../src/platform/readings.ts';
import { portsIn } from '../platform/client-support.ts';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { Secret } from '../../src/model/secret.ts';
import { createRequestBudget } from '../../src/platform/budget.ts';
import { createHttpTransport } from '../../src/platform/http.ts';
import { createPlatformClient } from '../../src/platform/platform-client.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { COMPONENTS_PER_APPLICATION, fleetApplications, type FleetSize, REGION, serviceId } from './fleet.ts';
import { TOKEN } from './processes.ts';

export interface ColdFloorTask {
  readonly url: string;
  readonly files: readonly string[];
  readonly size: FleetSize;
  readonly atOnce: number;
}

export interface ColdFloor {
  readonly parseMs: number;
  readonly readMs: number;
}

process.once('message', (task: ColdFloorTask) => {
  void measure(task).then((floor) => process.send?.(floor));
});
process.once('disconnect', () => process.exit(0));

async function measure({ url, files, size, atOnce }: ColdFloorTask): Promise<ColdFloor> {
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  const began = performance.now();
  for (const text of texts) parse(text);
  const parsed = performance.now();
  await readAll(url, size, atOnce);
  return { parseMs: parsed - began, readMs: performance.now() - parsed };
}

async function readAll(url: string, size: FleetSize, atOnce: number): Promise<void> {
  const token = new Secret(TOKEN, 'the bench');
  const auth = { header: 'Authorization', value: () => token };
  const http = createHttpTransport({ url, auth, connections: atOnce, clock: systemClock });
  const client = createPlatformClient({
    name: 'bench',
    url,
    transport: http.send,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    dialect: 'extended',
    budget: createRequestBudget({ concurrency: atOnce, requestsPerSecond: 100_000 }, systemClock),
    limits: { timeoutMs: 30_000 },
  });
  const applications = fleetApplications(size);
  const teams = new Set(applications.map(({ team }) => team));
  const reads = [
    () => client.read(listAllRules, {}),
    ...[...teams].map((team) => () => client.read(listApplications, { team, region: REGION })),
    ...applications.flatMap(({ appId, team }) =>
      Array.from(
        { length: COMPONENTS_PER_APPLICATION },
        (_, component) => () => portsIn(client, { team, region: REGION, appId }, serviceId(appId, component)),
      ),
    ),
  ].values();
  const worker = async (): Promise<void> => {
    for (const read of reads) await read();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  await http.close();
}
