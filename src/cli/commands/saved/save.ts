import { type Declarations, referencesOf } from '../../../kinds/kind.ts';
import { storeDeclaration } from '../../../configuration/store/declaration.ts';
import { invalidInput } from '../../../model/errors.ts';
import { safeLine } from '../../../model/text.ts';
import type { PlanDocument } from '../../../model/plan-document.ts';
import { type PlanAllowances, type SavedPlan, sealPlan } from '../../../plan/saved.ts';
import { successionOf } from '../../../source/snapshot.ts';
import type { Surroundings } from '../../session/command.ts';
import { readFileIfThere, writePrivateLines } from '../../session/files.ts';
import { NO_LEDGER_YET } from '../../session/open-ledger.ts';
import type { ServerFlags } from '../../server/options.ts';
import type { Session, SessionOptions } from '../../session/session.ts';
import { applyCommandOf, planCommandOf } from './flags.ts';

/**
 * Checks that a plan of these options can be saved, before anything is planned.
 * @throws PortolanError `invalid`
 */
export function checkSaving(file: string, options: Pick<SessionOptions, 'ledger'> & ServerFlags): void {
  if (options.server !== undefined)
    throw invalidInput(
      'cli/save-on-server',
      'A plan of --server cannot be saved: the controller holds the ledger, so apply could not use it. Nothing was planned.',
      'Keep the printed digest: plan --expect DIGEST and portolan approve refuse any other plan. Or omit --server and plan with the ledger.',
    );
  if (options.ledger === 'none')
    throw invalidInput(
      'cli/save-without-ledger',
      'A plan without a ledger cannot be saved: it does not know which resources are managed, so no apply would make the same plan. Nothing was planned.',
      'Omit --ledger none, or --save.',
    );
  const there = readFileIfThere(file, 'the file to replace');
  if (there !== undefined && !/^\{.*"format":"portolan-saved-plan"/s.test(new TextDecoder().decode(there)))
    throw invalidInput(
      'cli/file-exists',
      `${file} exists and is not a saved plan, so it is not replaced. Nothing was planned.`,
      'Pass another file to --save, or remove this one.',
    );
}

/**
 * Writes a plan to a file for `apply FILE`. Only its owner may read it. A plan that could not be applied is not written,
 * and a note says so on stderr.
 */
export async function savePlan(
  file: string,
  document: PlanDocument,
  session: Session,
  options: SessionOptions,
  { clock, who, terminal, redaction, declarations }: Surroundings,
): Promise<void> {
  const note = (text: string): void => terminal.err.write(`${safeLine(text)}\n`);
  if (document.unobserved.length > 0) {
    note(`note: ${file} was not written: the plan is incomplete, because not every application could be observed`);
    return;
  }
  // Such a plan can be applied once its window is open; approving it lifts the removal budget.
  if (document.refusals.some(({ code }) => code !== 'guard/window' && code !== 'guard/budget')) {
    note(`note: ${file} was not written: a guard refuses the plan (pass its override to plan)`);
    return;
  }
  const text = sealPlan({
    savedMs: clock.now(),
    savedBy: who.replace(/, pid [0-9]+$/, ''),
    plan: document,
    ...(await circumstances(declarations, session)),
    allowed: allowancesOf(options),
    command: planCommandOf(options),
  });
  // Plans contain no secrets, but a label may hold a token by mistake, and CI keeps the file as an artifact.
  if (redaction.redact(text) !== text)
    throw invalidInput(
      'plan/holds-a-secret',
      `The plan contains a secret of the configuration, so ${file} was not written.`,
      'Remove the secret from the manifests, replace it on the platform, and plan again.',
    );
  writePrivateLines(file, [text]);
  note(`The plan is saved in ${file}. To apply exactly this plan: ${applyCommandOf(file, options)}`);
}

type Circumstances = Pick<SavedPlan, 'desired' | 'commit' | 'basis' | 'ledger' | 'platforms' | 'stores'>;

const STORE = `${storeDeclaration.kind}/`;

async function circumstances(
  declarations: Declarations,
  { input, ledger, source, works }: Session,
): Promise<Circumstances> {
  const { desired, commit, configuration } = input;
  const last = await ledger.lastSnapshot(source);
  const succession = await successionOf(commit, last);
  const platforms = new Set(works.map(({ application }) => application.spec.platform));
  const stores = new Set(
    [...desired.values()]
      .flatMap(({ kind, spec }) => referencesOf(declarations.get(kind) ?? {}, spec))
      .flatMap(({ to }) => (to.startsWith(STORE) ? [to.slice(STORE.length)] : [])),
  );
  return {
    desired: [...desired.values()],
    commit: commit === undefined ? null : { id: commit.id, name: commit.name },
    basis: last === undefined ? null : { snapshot: last.id, commit: last.commit, descent: succession?.descent ?? null },
    ledger: ledger.lineage === NO_LEDGER_YET ? null : { lineage: ledger.lineage },
    platforms: [...configuration.platforms]
      .filter(([name]) => platforms.has(name))
      .map(([name, { url }]) => ({ name, url })),
    stores: [...configuration.stores]
      .filter(([name]) => stores.has(name))
      .map(([name, { url, domain, type }]) => ({ name, url, domain, type })),
  };
}

function allowancesOf(options: SessionOptions): PlanAllowances {
  return {
    prune: options.prune === true,
    adopt: options.adopt === true ? 'all' : (options.adopt ?? []),
    targets: options.target ?? null,
    maxShare: options.maxShare ?? null,
    maxPrunes: options.maxPrunes ?? null,
    allowEmpty: options.allowEmpty === true,
    allowShrunk: options.allowShrunk === true,
    allowRewind: options.allowRewind === true,
    firstInstall: options.firstInstall === 'asked' ? [] : (options.firstInstall ?? []),
  };
}
