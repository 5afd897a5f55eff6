const DESTROY = 'There is no such command: remove the documents from the manifests, then portolan apply --prune.';

/** Maps words of other programs' command lines to what they are here. Keys have no `=value`. */
const HABITS: Readonly<Record<string, string>> = {
  '--auto-approve': 'apply does not ask with --yes (-y).',
  '-auto-approve': 'apply does not ask with --yes (-y).',
  '--file': 'The flag for manifests is -f (--filename).',
  '--files': 'The flag for manifests is -f (--filename), which may be repeated.',
  '--refresh': 'Every plan observes the platform.',
  '--refresh-only': 'Every plan observes the platform; portolan status only shows the state of each resource.',
  '--out-file': 'plan --save FILE saves a plan, and apply FILE applies it.',
  '-out': 'plan --save FILE saves a plan, and apply FILE applies it.',
  '-target': 'The flag is --target Kind/name.',
  '-var': 'The flag is --var NAME=value.',
  '-var-file': 'The flag is --var-file FILE.',
  '-destroy': DESTROY,
  '--destroy': DESTROY,
  '--recursive': 'Folders are always read with everything below them.',
  '-R': 'Folders are always read with everything below them.',
  '--namespace': 'Manifests name the team and region in kind Application.',
  '--context': 'The platform is in the configuration: --config FILE.',
  '--verbose': 'The flag is --log-level debug.',
  '--debug': 'The flag is --log-level debug.',
  '--quiet': 'The flag is --log-level error.',
  '--json': 'The flag is -o json.',
  '--server-side': 'apply has no such mode: manifests set only the fields that they contain.',
  destroy: DESTROY,
  delete: DESTROY,
  refresh: 'Every plan observes the platform; portolan status shows the state of each resource.',
  import: 'portolan export writes manifests of existing resources, and portolan adopt adopts them.',
  get: 'portolan status lists resources, and portolan tree draws an application.',
  describe: 'portolan status lists resources; portolan ledger show NAME shows one with its history.',
  logs: 'portolan events shows the events of a running controller.',
  state: 'The state file is the ledger: portolan ledger list, show, forget.',
  show: 'portolan ledger show NAME shows one object, and portolan plan shows changes.',
  output: 'portolan status -o json shows every resource.',
  workspace: 'Each set of manifests has a --source, and each environment a --config and a --ledger.',
  taint: 'portolan ledger retry retries a held change; no resource is replaced.',
  create: 'portolan apply creates resources of the manifests.',
  rollback: 'Revert the commit in git; apply or the daemon then applies it.',
  reconcile: 'portolan sync requests it from a running controller; portolan apply does it locally.',
  login: 'The token is in an environment variable or file that the configuration names.',
};

/** @returns one sentence that says what a word of another program is here; undefined for an unknown word. */
export function habitOf(word: string): string | undefined {
  const name = word.replace(/=.*$/s, '');
  return Object.hasOwn(HABITS, name) ? HABITS[name] : undefined;
}
