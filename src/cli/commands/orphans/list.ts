import type { Command } from '@commander-js/extra-typings';
import type { OrphanFacts, OrphanStatus } from '../../../model/status.ts';
import { orphanFacts, orphanRemedy } from '../../../plan/orphans.ts';
import type { UnobservedScope } from '../../../plan/document.ts';
import { silentHooks } from '../../../reconcile/apply/world.ts';
import { orphanedViews } from '../../../views/model.ts';
import { defineCommand, type OptionsOf, type Surroundings } from '../../session/command.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../../session/exit-codes.ts';
import { addViewedOptions, addViewOptions } from '../../session/planning-options.ts';
import { worstOf } from '../../session/plan-view.ts';
import { surveyAll, withSession } from '../../session/session.ts';
import { count } from '../../terminal/text.ts';
import { writeJson } from '../../terminal/terminal.ts';
import { readerOf, remedyLines, statusTable } from '../status/table.ts';

const parameters = (command: Command) => addViewOptions(addViewedOptions(command));

type ListOptions = OptionsOf<typeof parameters>;

export const listOrphansCommand = defineCommand({
  about:
    'Lists the resources that the ledger has of a source, in applications that no manifest of the source refers to any more. They stay on the platform until they are pruned, put back into git or forgotten. Reads the platform itself, or asks a running controller with --server. Writes nothing.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['orphans prune', 'ledger forget', 'status'],
  examples: `
portolan orphans without a subcommand does the same. An application that cannot be read now, or that only other paths of
the configuration name, has no orphans.

Examples:
  portolan orphans list -f manifests/
  portolan orphans list -o json | jq -r '.orphans[].scope' | sort -u
  portolan orphans list --server http://127.0.0.1:7780`,
  parameters,
  async run(surroundings, options) {
    if (options.server !== undefined) {
      const { openServer } = await import('../../server/client.ts');
      const orphans = await Array.fromAsync(openServer(options, surroundings).list('orphans'));
      return show(orphans as readonly OrphanStatus[], [], options, surroundings);
    }
    return withSession(options, surroundings, true, async (session) => {
      const { orphans, document } = await surveyAll(session, silentHooks);
      return show(orphans.map(orphanFacts), document.unobserved, options, surroundings);
    });
  },
});

function show(
  orphans: readonly (OrphanFacts & { readonly sinceMs?: number })[],
  unobserved: readonly UnobservedScope[],
  options: ListOptions,
  surroundings: Surroundings,
): ExitCode {
  const { terminal } = surroundings;
  const exitCode = worstOf(unobserved.map(({ disposition }) => exitCodeOf(disposition))) ?? EXIT.ok;
  if (options.output === 'json') {
    writeJson({ orphans, unobserved }, terminal);
    return exitCode;
  }
  const reader = readerOf(surroundings, options.ascii);
  const views = orphanedViews(orphans);
  const groups = views.map(({ id, state, reason }) => ({
    head: { state, name: id, words: ['-'], why: reason },
    members: orphans
      .filter(({ scope }) => scope === id)
      .map((one) => ({ state, name: one.id, words: [one.origin], sinceMs: one.sinceMs, why: one.objects.join(', ') })),
  }));
  const table = { groups, titles: ['origin'], whyTitle: 'objects', hasAge: options.server !== undefined };
  const remedies = [
    ...views.map(({ id }) => ({ about: id, why: '', what: orphanRemedy(id, options.server) })),
    ...unobserved.map(({ application, message, remedy }) => ({ about: application, why: message, what: remedy })),
  ];
  const lines = [
    ...(groups.length === 0 ? [] : [...statusTable(table, reader), '']),
    ...(remedies.length === 0 ? [] : [...remedyLines(remedies, reader), '']),
    reader.paint('title', `${count(orphans.length, 'resource')} orphaned in ${count(views.length, 'application')}.`),
  ];
  for (const line of lines) terminal.out.write(`${line}\n`);
  return exitCode;
}
