import { listRules, listAllRules } from '../../src/kinds/http-gateway-rule/readings.ts';
import { listInstalled } from '../../src/kinds/store-install/readings.ts';
import type { Reading } from '../../src/model/reading.ts';
import { listApplications, listCertificates, listComponents } from '../../src/platform/readings.ts';
import { listPorts } from '../../src/kinds/component/readings.ts';
import type { PortRecord } from '../../src/kinds/component/wire.ts';
import type { AppAddress } from '../../src/platform/writes.ts';
import { createRequestBudget } from '../../src/platform/budget.ts';
import type { PlatformClient } from '../../src/platform/client.ts';
import { createPlatformClient, type PlatformClientOptions } from '../../src/platform/platform-client.ts';
import type { PlatformRequest, PlatformResponse } from '../../src/platform/transport.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { chance, VirtualClock } from './virtual-clock.ts';

/** What the stand-in answers: a response, or what it throws. */
export type Answering = (request: PlatformRequest, count: number) => PlatformResponse | Error;

export interface ClientUnderTest {
  readonly client: PlatformClient;
  readonly clock: VirtualClock;
  readonly sent: PlatformRequest[];
}

/** A client whose transport is the given function, on virtual time. */
export function clientOf(answering: Answering, options: Partial<PlatformClientOptions> = {}): ClientUnderTest {
  const clock = new VirtualClock();
  const sent: PlatformRequest[] = [];
  const client = createPlatformClient({
    name: 'default',
    url: 'https://console.example.com',
    transport: async (request) => {
      sent.push(request);
      const answer = answering(request, sent.length);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    clock,
    random: chance(0.5),
    log: silentLog,
    dialect: 'auto',
    budget: createRequestBudget({ concurrency: 16, requestsPerSecond: 1000 }, clock),
    limits: { timeoutMs: 30_000 },
    ...options,
  });
  return { client, clock, sent };
}

/** The ports of a component; undefined: it is not in the application. */
export async function portsIn(
  client: Pick<PlatformClient, 'read'>,
  app: AppAddress,
  serviceId: string,
): Promise<readonly PortRecord[] | undefined> {
  const answer = await client.read(listPorts(serviceId), app);
  return answer.readable ? answer.value : undefined;
}

/** The listings that only servers of the extended dialect have. */
export const extendedListings: readonly Reading<unknown>[] = [
  listApplications,
  listComponents,
  listRules,
  listAllRules,
  listInstalled,
  listCertificates,
];
