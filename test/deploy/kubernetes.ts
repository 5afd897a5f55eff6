import { isIP } from 'node:net';
import { parseAddress } from '../../src/ledger/postgres/address.ts';

/** Longest end of a controller: 30 s for what is in flight, then 5 s each for notifications, traces and the ledger. */
export const ENDS_S = 45;

/** A Kubernetes object, or a part of one, as YAML gives it. */
// oxlint-disable-next-line typescript/no-explicit-any -- what is looked at is asserted field by field.
export type Part = any;

/** What must hold of the objects that deploy Portolan; each gives what is wrong, or nothing. */
export const RULES: readonly (readonly [rule: string, check: (objects: readonly Part[]) => readonly string[]])[] = [
  ['every object has its kind, version and name', (all) => all.flatMap((one) => hasFace(one))],
  ['no two objects are the same', (all) => twice(all.map((one) => `${one.kind}/${one.metadata?.name}`))],
  ['no pod may become root', (all) => pods(all).flatMap(({ spec }) => rootless(spec))],
  ['no container may write to its root, or gain rights', (all) => containers(all).flatMap(confined)],
  ['every image is pinned', (all) => containers(all).flatMap(({ name, image }) => pinned(name, image))],
  ['every container says what it needs', (all) => containers(all).flatMap(bounded)],
  ['no pod gets credentials of the cluster', (all) => pods(all).flatMap(({ spec }) => unprivileged(spec))],
  ['every mount has its volume, and every volume its mount', (all) => pods(all).flatMap(({ spec }) => mounts(spec))],
  ['every port that is named is there', (all) => namedPorts(all)],
  [
    'no secret stands in an object',
    (all) => all.flatMap((one) => (one.kind === 'Secret' ? ['a Secret is among them'] : [])),
  ],
  ['selectors select the pods', (all) => selectors(all)],
  [
    'one process at a time has a ledger on a volume; several share one in a database',
    (all) => deployments(all).flatMap(({ spec }) => (ledgerUrl(spec) === undefined ? single(spec) : several(spec))),
  ],
  ['the database is reached, and proves who it is', (all) => databases(all)],
  [
    'what is in flight is finished before it is killed',
    (all) =>
      pods(all).flatMap(({ spec }) => (spec.terminationGracePeriodSeconds > ENDS_S ? [] : ['it is killed too early'])),
  ],
  [
    'the health of Portolan is looked at',
    (all) =>
      containers(all)
        .filter(({ name }) => name === 'portolan')
        .flatMap(probed),
  ],
  [
    'nodes can be drained',
    (all) =>
      all
        .filter(({ kind }) => kind === 'PodDisruptionBudget')
        .flatMap(({ spec }) =>
          spec.maxUnavailable === 1 && spec.minAvailable === undefined ? [] : ['it forbids every disruption'],
        ),
  ],
  [
    'the network is closed but for what is said',
    (all) => all.filter(({ kind }) => kind === 'NetworkPolicy').flatMap(({ spec }) => closed(spec)),
  ],
  ['names that objects refer to exist', (all) => references(all)],
];

const VERSIONS: Readonly<Record<string, string>> = {
  ServiceAccount: 'v1',
  ConfigMap: 'v1',
  PersistentVolumeClaim: 'v1',
  Service: 'v1',
  Deployment: 'apps/v1',
  CronJob: 'batch/v1',
  Job: 'batch/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  Ingress: 'networking.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
};

function hasFace(one: Part): string[] {
  const wrong: string[] = [];
  if (VERSIONS[one.kind] !== one.apiVersion) wrong.push(`${one.kind}: apiVersion is ${one.apiVersion}`);
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(one.metadata?.name ?? '')) wrong.push(`${one.kind}: bad name`);
  if (one.metadata?.labels?.['app.kubernetes.io/name'] !== 'portolan') wrong.push(`${one.kind}: no label`);
  return wrong;
}

function twice(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}

function deployments(all: readonly Part[]): Part[] {
  return all.filter(({ kind }) => kind === 'Deployment');
}

function pods(all: readonly Part[]): Part[] {
  return deployments(all).map(({ spec }) => spec.template);
}

function containers(all: readonly Part[]): Part[] {
  return pods(all).flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers]);
}

function rootless({ securityContext: context }: Part): string[] {
  const isGood = context?.runAsNonRoot === true && context.runAsUser >= 1000 && context.fsGroup >= 1000;
  return isGood && context.seccompProfile?.type === 'RuntimeDefault' ? [] : ['the pod may run as root'];
}

function confined({ name, securityContext: context }: Part): string[] {
  const isGood =
    context?.allowPrivilegeEscalation === false &&
    context.readOnlyRootFilesystem === true &&
    context.capabilities?.drop?.includes('ALL') === true &&
    context.capabilities.add === undefined &&
    context.privileged === undefined &&
    context.runAsUser !== 0;
  return isGood ? [] : [`${name} is not confined`];
}

export function pinned(name: string, image: unknown): string[] {
  return /(?::v?\d+\.\d+(?:\.\d+)?[-\w.]*|@sha256:[0-9a-f]{64})$/.test(String(image))
    ? []
    : [`${name}: ${String(image)}`];
}

function bounded({ name, resources }: Part): string[] {
  const isGood = resources?.requests?.memory && resources.requests.cpu && resources.limits?.memory;
  return isGood ? [] : [`${name} does not say what it needs`];
}

function unprivileged(spec: Part): string[] {
  const wrong = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] !== undefined);
  if (spec.automountServiceAccountToken !== false) wrong.push('a token of the cluster is mounted');
  if (spec.enableServiceLinks !== false) wrong.push('variables of services may be taken for ours');
  return wrong;
}

function mounts(spec: Part): string[] {
  const volumes: string[] = spec.volumes.map(({ name }: Part) => name);
  const mounted: string[] = [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ volumeMounts }: Part) =>
    volumeMounts.map(({ name }: Part) => name),
  );
  return [
    ...mounted.filter((name) => !volumes.includes(name)).map((name) => `${name} is no volume`),
    ...volumes.filter((name) => !mounted.includes(name)).map((name) => `${name} is not mounted`),
    ...twice(volumes),
    ...spec.volumes.flatMap((volume: Part) => (volume.hostPath === undefined ? [] : ['a path of the host is mounted'])),
  ];
}

function namedPorts(all: readonly Part[]): string[] {
  const named = new Set(containers(all).flatMap(({ ports }) => (ports ?? []).map(({ name }: Part) => name)));
  const used = [
    ...all
      .filter(({ kind }) => kind === 'Service')
      .flatMap(({ spec }) => spec.ports.map(({ targetPort }: Part) => targetPort)),
    ...containers(all).flatMap((one) =>
      [one.startupProbe, one.livenessProbe, one.readinessProbe].flatMap((probe) => probe?.httpGet?.port ?? []),
    ),
  ];
  return used.filter((port) => !named.has(port)).map((port) => `no container has the port ${port}`);
}

function selectors(all: readonly Part[]): string[] {
  const [pod] = pods(all);
  const labels: Readonly<Record<string, string>> = pod?.metadata?.labels ?? {};
  const wanted = all.flatMap(({ kind, spec }): [string, Part][] => {
    if (kind === 'Service') return [[kind, spec.selector]];
    if (kind === 'NetworkPolicy') return [[kind, spec.podSelector.matchLabels]];
    return kind === 'Deployment' || kind === 'PodDisruptionBudget' ? [[kind, spec.selector.matchLabels]] : [];
  });
  return wanted
    .filter(([, selector]) => !Object.entries(selector ?? { none: '' }).every(([key, value]) => labels[key] === value))
    .map(([kind]) => `${kind} selects other pods`);
}

function single(spec: Part): string[] {
  return spec.replicas === 1 && spec.strategy?.type === 'Recreate' ? [] : ['two may run at once'];
}

/** @returns the URL of the database, if the pods of a deployment keep their ledger in one. */
function ledgerUrl(spec: Part): string | undefined {
  const { containers: main } = spec.template.spec;
  return main.flatMap(({ env }: Part) => env ?? []).find(({ name }: Part) => name === 'PORTOLAN_LEDGER')?.value;
}

function several({ replicas, strategy, template: { spec } }: Part): string[] {
  const wrong: string[] = [];
  const { maxUnavailable, maxSurge } = strategy?.rollingUpdate ?? {};
  if (!(replicas > 1)) wrong.push('only one runs');
  if (strategy?.type !== 'RollingUpdate' || maxUnavailable !== 0 || maxSurge !== 1)
    wrong.push('an old one ends before a new one is ready');
  const [apart] = spec.affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (apart?.podAffinityTerm.topologyKey !== 'kubernetes.io/hostname') wrong.push('all may run on one node');
  const zones = spec.topologySpreadConstraints?.[0];
  if (zones?.topologyKey !== 'topology.kubernetes.io/zone') wrong.push('all may run in one zone');
  const waits = Number(spec.containers[0].lifecycle?.preStop?.exec?.command?.[1] ?? 0);
  if (!(waits > 0)) wrong.push('requests reach a pod that has ended');
  if (!(spec.terminationGracePeriodSeconds > ENDS_S + waits)) wrong.push('it is killed too early');
  if (spec.volumes.some((volume: Part) => volume.persistentVolumeClaim !== undefined))
    wrong.push('two pods want one volume');
  return wrong;
}

/** The URL as the program reads it, its files among those of the secret, and its port in the policy. */
function databases(all: readonly Part[]): string[] {
  return deployments(all).flatMap(({ spec }) => {
    const url = ledgerUrl(spec);
    if (url === undefined) return [];
    const address = parseAddress(url);
    const wrong: string[] = [];
    if (!url.includes('sslmode=verify-full') || address.tls !== 'verify-full')
      wrong.push('the database may be another');
    const secrets = spec.template.spec.volumes.find(({ name }: Part) => name === 'secrets').secret;
    const files: string[] = secrets.items.map(({ path }: Part) => `/run/secrets/portolan/${path}`);
    for (const file of [address.passwordFile, address.rootCertificate])
      if (file !== undefined && !files.includes(file)) wrong.push(`${file} is not mounted`);
    if (address.passwordFile === undefined) wrong.push('no password');
    if (address.user.includes('owner')) wrong.push('a controller owns the tables');
    for (const { spec: policy } of all.filter(({ kind }) => kind === 'NetworkPolicy'))
      if (!policy.egress.some(({ ports }: Part) => ports.some(({ port }: Part) => port === address.port)))
        wrong.push('the database cannot be reached');
    return wrong;
  });
}

function probed({ livenessProbe, readinessProbe, startupProbe }: Part): string[] {
  const isGood =
    livenessProbe?.httpGet?.path === '/healthz' &&
    readinessProbe?.httpGet?.path === '/readyz' &&
    startupProbe?.httpGet?.path === '/healthz';
  return isGood ? [] : ['a probe is missing or looks elsewhere'];
}

/** Where NodeLocal DNSCache listens on each node. */
const NODE_DNS = '169.254.20.10/32';
/** Where clouds return credentials of a machine: every one has the first, Amazon and Google the others with IPv6. */
const METADATA = { 4: ['169.254.0.0/16'], 6: ['fd00:ec2::254/128', 'fd20:ce::254/128', 'fe80::/10'] } as const;

function closed({ policyTypes, ingress, egress }: Part): string[] {
  const wrong: string[] = [];
  if (!policyTypes.includes('Ingress') || !policyTypes.includes('Egress')) wrong.push('one direction is open');
  for (const rule of [...ingress, ...egress])
    if (!(rule.ports?.length > 0) || !((rule.from ?? rule.to)?.length > 0))
      wrong.push('a rule lets everything through');
  for (const { ipBlock } of egress.flatMap(({ to }: Part) => to))
    if (ipBlock !== undefined) {
      const version = isIP(ipBlock.cidr.split('/')[0]);
      if (version === 0) wrong.push(`${ipBlock.cidr} is no network`);
      const metadata = version === 6 ? METADATA[6] : METADATA[4];
      if (ipBlock.cidr !== NODE_DNS && !metadata.every((network) => ipBlock.except?.includes(network)))
        wrong.push('the metadata of the machine can be reached');
    }
  // In a network of both kinds, a host that has an address of each is tried with either.
  for (const { to } of egress) {
    const versions = to.flatMap(({ ipBlock }: Part) =>
      ipBlock?.cidr.endsWith('/0') ? [isIP(ipBlock.cidr.split('/')[0])] : [],
    );
    if (versions.length === 1) wrong.push('one kind of addresses is closed');
  }
  return wrong;
}

/** Of secrets only the name is known here. */
function references(all: readonly Part[]): string[] {
  const names = new Set(all.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  return pods(all)
    .flatMap(({ spec }): string[] => [
      ...(spec.serviceAccountName === undefined ? [] : [`ServiceAccount/${spec.serviceAccountName}`]),
      ...spec.volumes.flatMap(({ configMap, persistentVolumeClaim }: Part) => [
        ...(configMap === undefined ? [] : [`ConfigMap/${configMap.name}`]),
        ...(persistentVolumeClaim === undefined ? [] : [`PersistentVolumeClaim/${persistentVolumeClaim.claimName}`]),
      ]),
    ])
    .filter((name) => !names.has(name))
    .map((name) => `there is no ${name}`);
}
