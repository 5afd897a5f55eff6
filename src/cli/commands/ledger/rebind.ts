import { Option } from '@commander-js/extra-typings';
import type { Binding } from '../../../ledger/binding.ts';
import { didYouMean } from '../../../manifest/suggest.ts';
import { PortolanError } from '../../../model/errors.ts';
import { safeLine } from '../../../model/text.ts';
import { canonicalUrl } from '../../../platform/url.ts';
import { rebindByHand } from '../../../reconcile/resolution/books-by-hand.ts';
import type { CommandDefinition, Surroundings } from '../../session/command.ts';
import { readConfiguration } from '../../session/configuration.ts';
import { EXIT, type ExitCode } from '../../session/exit-codes.ts';
import { configOption, outputOption } from '../../session/options.ts';
import { reportProblems } from '../../session/problems.ts';
import { openServer } from '../../server/client.ts';
import { type ServerFlags, serverOption, tokenFileOption } from '../../server/options.ts';
import { sentences } from '../../terminal/text.ts';
import { ledgerFileOption, type LedgerOptions, writingLedger } from './opening.ts';
import { requiredReason, writeJson } from './words.ts';

const HELP = `
A ledger belongs to the platforms that it was first used with: it remembers the URL of each Platform and the ids of its
regions. If one of them differs, everything for that Platform is held, because the records of one platform are wrong for
another one: rules would look deleted, and installs missing. Run this only if the platform is the same one, or was set
up again on purpose. The next apply compares the records with what the platform has now.

Without --server, the ledger file is changed, and no process may hold it. With --server, the running controller changes
its ledger; this needs a token with the role admin.

Examples:
  portolan ledger rebind default --reason 'the console has a new host name, see OPS-17'
  portolan ledger rebind default --reason 'region-1 was set up again' --server https://portolan.example.com`;

export const rebindCommand: CommandDefinition = {
  help: {
    about:
      'Binds the ledger to the present URL of a Platform, and to the regions that it has at their next use. Nothing is sent to the platform.',
    exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.locked],
    seeAlso: ['ledger show', 'plan', 'apply'],
  },
  define(command, invoke) {
    command
      .argument('<platform>', 'name of the Platform in the configuration')
      .addOption(new Option('--reason <text>', 'why, for the history (required)'))
      .addOption(ledgerFileOption())
      .addOption(configOption())
      .addOption(serverOption())
      .addOption(tokenFileOption())
      .addOption(outputOption(['text', 'json']))
      .addHelpText('after', HELP)
      .action((platform, options) => invoke((surroundings) => rebind(platform, options, surroundings)));
  },
};

interface RebindOptions extends LedgerOptions, ServerFlags {
  readonly reason?: string | undefined;
  readonly config?: string | undefined;
  readonly output: 'text' | 'json';
}

async function rebind(platform: string, options: RebindOptions, surroundings: Surroundings): Promise<ExitCode> {
  const reason = requiredReason(options.reason);
  const { terminal } = surroundings;
  if (options.server !== undefined) {
    const path = `platforms/${encodeURIComponent(platform)}/rebind`;
    const answer = await openServer(options, surroundings).post(path, 'url', { reason });
    const { url, before } = answer as { readonly url: string; readonly before: string | null };
    return report({ platform, url, before: before ?? undefined }, options, surroundings);
  }
  const { configuration, file, problems } = readConfiguration(options.config, surroundings);
  const invalid = reportProblems(problems, terminal);
  if (invalid !== undefined) return invalid;
  const spec = configuration.platforms.get(platform);
  if (spec === undefined) throw noSuchPlatform(platform, [...configuration.platforms.keys()], file);
  const url = canonicalUrl(spec.url);
  const former: Binding | undefined = await writingLedger('ledger rebind', options, surroundings, (world) =>
    rebindByHand(world, platform, url, { reason }),
  );
  return report({ platform, url, before: former?.url }, options, surroundings);
}

function report(
  { platform, url, before }: { readonly platform: string; readonly url: string; readonly before: string | undefined },
  { output }: RebindOptions,
  { terminal }: Surroundings,
): ExitCode {
  if (output === 'json') {
    writeJson({ platform, url, before: before ?? null }, terminal);
    return EXIT.ok;
  }
  const from = before === undefined || before === url ? '' : `from ${before} `;
  terminal.out.write(
    `${safeLine(`Platform/${platform} is rebound ${from}to ${url}`)}. Its regions are bound again at their next use.\n` +
      'Nothing was sent to the platform.\n',
  );
  return EXIT.ok;
}

function noSuchPlatform(name: string, known: readonly string[], file: string | undefined): PortolanError {
  return new PortolanError({
    code: 'configuration/missing',
    disposition: 'invalid',
    message: `${file === undefined ? 'There is no configuration' : `${file} has no Platform`} called ${name}. Nothing was recorded.`,
    remedy: sentences(didYouMean(name, known), `Name one of: ${known.join(', ') || 'none'}.`),
  });
}
