const DESTROY = 'There is no such command: take the documents out of the manifests, then portolan apply --prune.';

/** Maps words of other programs' command lines to what they are here. Keys have no `=value`. */
const HABITS: Readonly<Record<string, string>> = {
  '--auto-approve': 'apply asks nothing with --yes (-y).',
  '-auto-approve': 'apply asks nothing with --yes (-y).',
  '--file': 'The flag for manifests is -f (--filename).',
  '--files': 'The flag for manifests is -f (--filename), which may be repeated.',
  '--refresh': 'Every plan reads the platform anew.',
  '--refresh-only': 'Every plan reads the platform anew; portolan status only shows how each resource stands.',
  '--out-file': 'plan --save FILE keeps a plan, and apply FILE applies it.',
  '-out': 'plan --save FILE keeps a plan, and apply FILE applies it.',
  '-target': 'The flag is --target Kind/name.',
  '-var': 'The flag is --var NAME=value.',
  '-var-file': 'The flag is --var-file FILE.',
  '-destroy': DESTROY,
  '--destroy': DESTROY,
  '--recursive': 'Folders are always read with everything below them.',
  '-R': 'Folders are always read with everything below them.',
  '--namespace': 'Manifests name the team and region in kind Application.',
  '--context': 'The platform stands in the configuration: --config FILE.',
  '--verbose': 'The flag is --log-level debug.',
  '--debug': 'The flag is --log-level debug.',
  '--quiet': 'The flag is --log-level error.',
  '--json': 'The flag is -o json.',
  '--server-side': 'apply has no such mode; manifests assert only the fields that they name.',
  destroy: DESTROY,
  delete: DESTROY,
  refresh: 'Every plan reads the platform anew; portolan status shows how each resource stands.',
  import: 'portolan export writes manifests of existing resources, and portolan adopt takes them over.',
  get: 'portolan status lists resources, and portolan tree draws an application.',
  describe: 'portolan status lists resources; portolan ledger show NAME shows one with its history.',
  logs: 'portolan events shows what a running controller did.',
  state: 'The state file is the ledger: portolan ledger list, show, forget.',
  show: 'portolan ledger show NAME shows one object; portolan plan shows the changes.',
  output: 'portolan status -o json shows every resource.',
  workspace: 'Each set of manifests has a --source, and each environment a --config and a --ledger.',
  taint: 'portolan ledger retry tries a held change again; no resource is replaced.',
  create: 'portolan apply makes what the manifests name.',
  rollback: 'Revert the commit in git; apply or the daemon then makes it so.',
  reconcile: 'portolan sync requests it of a running controller; portolan apply does it here.',
  login: 'The token stands in an environment variable or file that the configuration names.',
};

/** @returns one sentence that says what a word of another program is here; undefined for an unknown word. */
export function habitOf(word: string): string | undefined {
  const name = word.replace(/=.*$/s, '');
  return Object.hasOwn(HABITS, name) ? HABITS[name] : undefined;
}
