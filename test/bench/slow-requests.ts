import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultTiming } from '../../src/reconcile/apply/world.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import type { BenchOptions, Figure } from './figures.ts';
import { configurationFor } from './fleet.ts';
import { portolan, type SandboxRequest, startSandboxProcess } from './processes.ts';

const COMPONENTS = 150;
const CHANGES = 100;
/** So slow that its components take longer to read than an observation may be old. */
const LATENCY_MS = 600;
const TEAM = 'team-1';
const REGION = 'region-1';

/**
 * What a plan and an apply of 100 changes ask of a platform that takes 0.6 s for each answer, in one application of 150
 * components. The floor is counted in the same run: see `applyFloor`.
 */
export async function slowRequests(_: BenchOptions): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const sandbox = await startSandboxProcess(folder, seed());
  try {
    const manifests = join(folder, 'app.yaml');
    writeFileSync(manifests, manifestsOf(0));
    const config = join(folder, 'portolan.yaml');
    writeFileSync(config, configurationFor(sandbox.url).replace('dialect: extended', 'dialect: auto'));
    const flags = ['-f', manifests, '--config', config, '--ledger', join(folder, 'portolan.db')];
    await portolan(['apply', ...flags, '--yes', '--adopt']);
    await slowDown(sandbox.url);
    await sandbox.requests();
    await portolan(['plan', ...flags, '--detailed-exitcode']);
    const planned = await sandbox.requests();
    await portolan(['plan', ...flags, '--ledger', 'none', '--detailed-exitcode']);
    const unknown = await sandbox.requests();
    writeFileSync(manifests, manifestsOf(CHANGES));
    await portolan(['apply', ...flags, '--yes', '--max-share', '1']);
    const applied = await sandbox.requests();
    const writes = applied.filter(({ isWrite }) => isWrite);
    const exactly = { text: '1.00 ×', isMet: ({ ratio }: { readonly ratio: number | undefined }) => ratio === 1 };
    return [
      {
        name: `requests of a plan of ${COMPONENTS} components in sync, ${LATENCY_MS} ms an answer`,
        unit: '',
        samples: [planned.length],
        floor: [planFloor],
        goal: exactly,
      },
      {
        name: 'the same without a ledger, with a dialect that nobody knows',
        unit: '',
        samples: [unknown.length],
        floor: [planFloor],
        goal: exactly,
      },
      {
        name: `writes of an apply of ${CHANGES} changes`,
        unit: '',
        samples: [writes.length],
        floor: [CHANGES],
        goal: exactly,
      },
      {
        name: `requests of that apply, ${LATENCY_MS} ms an answer`,
        unit: '',
        samples: [applied.length],
        floor: [applyFloor(applied)],
        goal: { text: '≤ 1.25 ×', isMet: ({ ratio = Number.NaN }) => ratio <= 1.25 },
      },
    ];
  } finally {
    await sandbox.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The application, its rules, and the ports of each component: of one application no listing holds more. */
const planFloor = 1 + 1 + COMPONENTS;

/**
 * The plan with the regions of its guards; the writes; each changed listing read back once; and what was read longer ago
 * than an observation may be, when it is written upon, read once more.
 */
function applyFloor(requests: readonly SandboxRequest[]): number {
  const writes = requests.filter(({ isWrite }) => isWrite);
  const listingOf = ({ path }: SandboxRequest): string => path.replace(/\/\d+$/, '');
  const firstReadMs = new Map<string, number>();
  for (const request of requests)
    if (!request.isWrite && !firstReadMs.has(request.path)) firstReadMs.set(request.path, request.atMs);
  const old = writes.filter(
    (write) => write.atMs - (firstReadMs.get(listingOf(write)) ?? 0) > defaultTiming.observationMaxAgeMs,
  );
  return planFloor + 1 + writes.length + new Set(writes.map(listingOf)).size + old.length;
}

async function slowDown(url: string): Promise<void> {
  const faults = [{ name: 'slow', path: '/openapi/**', fault: { type: 'delay', when: 'before', ms: LATENCY_MS } }];
  const response = await fetch(`${url}/_sandbox/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(faults),
  });
  if (!response.ok) throw new Error(`the sandbox refused the fault: ${await response.text()}`);
}

const idOf = (component: number): string => component.toString(16).padStart(32, 'c');

function seed(): Seed {
  return {
    enterprise: { id: 'e'.repeat(32) },
    regions: [{ id: '1'.repeat(32), name: REGION }],
    teams: [{ id: '2'.repeat(32), name: TEAM }],
    applications: [
      {
        id: 1,
        team: TEAM,
        region: REGION,
        name: 'shop',
        components: Array.from({ length: COMPONENTS }, (_, index) => ({
          id: idOf(index),
          name: `c${index}`,
          ports: [{ port: 8080, alias: 'WEB', inner: false, outer: false }],
        })),
      },
    ],
  };
}

/** Inner access of the first components is open. */
function manifestsOf(changed: number): string {
  const components = Array.from(
    { length: COMPONENTS },
    (_, index) => `---
apiVersion: portolan/v1
kind: Component
metadata: { name: c${index} }
spec:
  application: shop
  serviceId: ${idOf(index)}
  ports: [{ port: 8080, alias: WEB, inner: ${index < changed} }]
`,
  );
  return `apiVersion: portolan/v1
kind: Application
metadata: { name: shop }
spec: { team: ${TEAM}, region: ${REGION}, appId: 1 }
${components.join('')}`;
}
