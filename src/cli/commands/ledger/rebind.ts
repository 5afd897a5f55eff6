import { didYouMean } from '../../../manifest/suggest.ts';
import { invalidInput } from '../../../model/errors.ts';
import { safeLine } from '../../../model/text.ts';
import { canonicalUrl } from '../../../platform/url.ts';
import { rebindPlatform } from '../../../reconcile/resolution/manual-changes.ts';
import { defineCommand } from '../../session/command.ts';
import { readConfiguration } from '../../session/configuration.ts';
import { EXIT } from '../../session/exit-codes.ts';
import { configOption, outputOption } from '../../session/options.ts';
import { refuseFaults } from '../../session/problems.ts';
import { openServer } from '../../server/client.ts';
import { addServerOptions } from '../../server/options.ts';
import { sentences } from '../../terminal/text.ts';
import { ledgerFileOption, writeLedger } from './opening.ts';
import { requiredReason, writeResult } from './words.ts';

export const rebindCommand = defineCommand({
  about:
    'Binds the ledger to the current URL of a Platform. Its regions are bound again at their next use. Nothing is sent to the platform.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.locked],
  seeAlso: ['ledger show', 'plan', 'apply'],
  examples: `
A ledger belongs to the platforms that it was first used with: it remembers the URL of each Platform and the ids of its
regions. If one of them differs, everything for that Platform is held, because the records of one platform are wrong for
another one: rules would look deleted, and installs missing. Run this only if the platform is the same one, or was set
up again on purpose. The next apply compares the records with what the platform has now.

Without --server, the ledger file is changed, and no process may hold it. With --server, the running controller changes
its ledger; this needs a token with the role admin for everything.

Examples:
  portolan ledger rebind default --reason 'the console has a new host name, see OPS-17'
  portolan ledger rebind default --reason 'region-1 was set up again' --server https://portolan.example.com`,
  parameters: (command) =>
    addServerOptions(
      command
        .argument('<platform>', 'name of the Platform in the configuration')
        .option('--reason <text>', 'why, for the history (required)')
        .addOption(ledgerFileOption())
        .addOption(configOption()),
    ).addOption(outputOption(['text', 'json'])),
  async run(surroundings, options, [platform]) {
    const reason = requiredReason(options.reason);
    const report = (url: string, before: string | undefined): void => {
      const from = before === undefined || before === url ? '' : `from ${before} `;
      const text = `${safeLine(`Platform/${platform} is rebound ${from}to ${url}`)}. Its regions are bound again at their next use.\nNothing was sent to the platform.\n`;
      writeResult(options, surroundings, { platform, url, before: before ?? null }, text);
    };
    if (options.server !== undefined) {
      const path = `platforms/${encodeURIComponent(platform)}/rebind`;
      const answer = await openServer(options, surroundings).post(path, 'url', { reason });
      const { url, before } = answer as { readonly url: string; readonly before: string | null };
      return report(url, before ?? undefined);
    }
    const { configuration, file, problems } = readConfiguration(options.config, surroundings);
    refuseFaults(problems);
    const spec = configuration.platforms.get(platform);
    if (spec === undefined) {
      const known = [...configuration.platforms.keys()];
      throw invalidInput(
        'configuration/missing',
        `${file === undefined ? 'There is no configuration, and so no Platform' : `${file} has no Platform`} called ${platform}. Nothing was recorded.`,
        sentences(didYouMean(platform, known), `Name one of: ${known.join(', ') || 'none'}.`),
      );
    }
    const url = canonicalUrl(spec.url);
    const former = await writeLedger('ledger rebind', options, surroundings, (world) =>
      rebindPlatform(world, platform, url, { reason }),
    );
    report(url, former?.url);
  },
});
