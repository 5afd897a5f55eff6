import { invalidInput } from '../../../model/errors.ts';
import { parseScopeKey, type Scope, scopeKey } from '../../../model/ids.ts';
import { safeLine } from '../../../model/text.ts';
import { silentHooks } from '../../../reconcile/apply/world.ts';
import { closedLabels, orphanedWork } from '../../../reconcile/orphans.ts';
import { unresolvedOf } from '../../../reconcile/survey.ts';
import { defineCommand } from '../../session/command.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { openOutputs } from '../../session/outputs.ts';
import { addLimitOptions, addManifestOptions, addOutputOptions, expectOption } from '../../session/planning-options.ts';
import { addLogOptions, parallelismOption } from '../../session/options.ts';
import { besidesOf, type Session, surveyAll, withSession } from '../../session/session.ts';
import { addServerOptions } from '../../server/options.ts';
import { apply, dryRun } from '../apply.ts';
import { isOnServer } from '../ledger/opening.ts';

export const pruneOrphansCommand = defineCommand({
  about:
    'Removes what the source owns in applications that no manifest of it refers to any more. Plans, shows the plan, asks for confirmation and applies it like portolan apply --prune, with the same guards. With --server, a running controller does this for one application. Rules and ports that Portolan did not create stay, as do installs.',
  exitCodes: [
    EXIT.ok,
    EXIT.failed,
    EXIT.changesPending,
    EXIT.invalid,
    EXIT.held,
    EXIT.unreachable,
    EXIT.locked,
    EXIT.interrupted,
  ],
  seeAlso: ['orphans list', 'ledger forget', 'apply'],
  examples: `
Each application must be named, as orphans list names it. Nothing else is changed. -f must name all manifests of the
source: an application that any of them means is not orphaned. While a controller uses the ledger, the command ends with 6:
then name the controller with --server. It plans its own source, and removes exactly what the plan shows. This needs
--reason, for the history, and a token with the role admin.

Examples:
  portolan orphans prune default/team-a/region-1/42 --dry-run
  portolan orphans prune default/team-a/region-1/42 -f manifests/
  portolan orphans prune default/team-a/region-1/42 --server http://127.0.0.1:7780 --reason "the shop is closed"`,
  parameters: (command) =>
    addLogOptions(
      addLimitOptions(
        addOutputOptions(
          addServerOptions(
            addManifestOptions(command.argument('<scope...>', 'the applications: platform/team/region/appId')),
          ),
        ).addOption(expectOption()),
      )
        .option('--dry-run', 'show the plan and change nothing')
        .option('--detailed-exitcode', 'with --dry-run: end with 2 when changes are pending')
        .option('-y, --yes', 'do not ask for confirmation')
        .addOption(parallelismOption()),
    ),
  async run(surroundings, options, [names]) {
    if (isOnServer(options)) {
      const { pruneOnServer } = await import('./prune-on-server.ts');
      return pruneOnServer(names, options, surroundings);
    }
    const outputs = openOutputs(options, surroundings);
    const isDryRun = options.dryRun === true;
    const flags = { ...options, prune: true, isAgreed: options.expect !== undefined };
    return outputs.showFaultsOf(() =>
      withSession(
        flags,
        surroundings,
        isDryRun,
        async (session) => {
          const run = { options: flags, agreement: { expect: options.expect }, outputs };
          const orphaned = await orphanedSession(session, names);
          return isDryRun ? dryRun({ ...run, session: orphaned }) : apply({ ...run, session: orphaned });
        },
        'orphans prune',
      ),
    );
  },
});

/**
 * Returns the session with the named applications in place of those of the manifests.
 * @throws PortolanError when one of them is not orphaned, or must not be touched.
 */
async function orphanedSession(session: Session, names: readonly string[]): Promise<Session> {
  const { source, ledger, platforms } = session;
  const { orphans, prepared } = await surveyAll(session, silentHooks);
  const read = new Set(prepared.map(({ work }) => work));
  const besides = await besidesOf(session);
  const unread = [...session.works.filter((work) => !read.has(work)), ...(besides === 'unknown' ? [] : besides)];
  const managed = [...prepared.map(({ scope }) => scope), ...unread.map(unresolvedOf)];
  const found = new Set(orphans.map(({ scope }) => scope));
  const scopes = [...new Set(names)].map((name) => {
    const scope = parseScopeKey(name);
    if (scope !== undefined && found.has(name)) return scope;
    throw notOrphaned(name, prepared.find((one) => scopeKey(one.scope) === name)?.work.application.id, [...found]);
  });
  await warnOfOtherSources(session);
  const client = (platform: string) => platforms.client(platform);
  const workOf = (scope: Scope) =>
    orphanedWork({
      scope,
      source,
      ledger,
      managed,
      client,
      labels: closedLabels(scope, session.input.configuration.settings.windows, session.windowsAt),
    });
  return { ...session, works: await Promise.all(scopes.map(workOf)) };
}

/** Warns about sources of which the ledger may have no object yet: what they name is held while this source owns it. */
async function warnOfOtherSources({ ledger, source, surroundings }: Session): Promise<void> {
  const others = (await ledger.scopes()).flatMap((scope) => {
    const [, name] = /^source:(.*)$/.exec(scope) ?? [];
    return name === undefined || name === source ? [] : [name];
  });
  if (others.length === 0) return;
  surroundings.terminal.err.write(
    `${safeLine(`warning: this ledger has other sources (${others.join(', ')}). If one of them refers to the application now, do not prune it: let go of each resource with portolan ledger forget Kind/name --source ${source} --reason "…"`)}\n`,
  );
}

function notOrphaned(name: string, application: string | undefined, orphaned: readonly string[]) {
  const why =
    application === undefined
      ? 'the ledger has nothing of this source there, or an Application that was not read may refer to it'
      : `${application} refers to it`;
  const what =
    application === undefined
      ? `Name one of: ${orphaned.join(', ') || 'none is orphaned'}. portolan orphans shows all of them.`
      : 'Remove the resources from git and run portolan apply --prune.';
  return invalidInput('cli/not-orphaned', `${safeLine(name)} is not orphaned: ${why}. Nothing was sent.`, what);
}
