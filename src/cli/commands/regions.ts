import type { Region } from '../../platform/records.ts';
import { defineCommand } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';
import { addLogOptions, configOption, outputOption, platformOption } from '../session/options.ts';
import { addServerOptions } from '../server/options.ts';
import { platformStatusOfServer } from './platform-status.ts';
import { regionStatusWord, takesChanges } from './region-status.ts';
import { renderTable } from '../terminal/table.ts';
import type { Output } from '../terminal/terminal.ts';
import { readConfiguration } from '../session/configuration.ts';
import { withPlatforms } from '../session/platforms.ts';

export const regionsCommand = defineCommand({
  about:
    'Lists the regions of each platform of the configuration. apply and run write nothing to a region that does not accept changes. With --server, shows the regions that a running controller uses, its requests, and faults. Read-only.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['plan', 'config'],
  examples: `
Examples:
  portolan regions
  portolan regions --team team-a
  portolan regions --server http://127.0.0.1:7780   # with circuit breakers, request rates and faults
  portolan regions --platform default -o json | jq -r '.[] | select(.takesChanges | not) | .name'`,
  parameters: (command) =>
    addLogOptions(
      addServerOptions(
        command
          .addOption(configOption())
          .addOption(platformOption())
          .option('--team <team>', 'only regions of this team, for a token that may not list all regions'),
      ).addOption(outputOption(['text', 'json'])),
    ),
  run(surroundings, options) {
    if (options.server !== undefined) return platformStatusOfServer(options, surroundings);
    return withPlatforms(readConfiguration(options.config, surroundings), options, surroundings, async (platforms) => {
      const question = options.team === undefined ? {} : { team: options.team };
      const names = options.platform === undefined ? platforms.names : [options.platform];
      const found = await Promise.all(
        names.map(async (platform) =>
          (await platforms.client(platform).regions(question)).map((region) => ({ platform, region })),
        ),
      );
      const rows = found.flat();
      const { out } = surroundings.terminal;
      out.write(options.output === 'json' ? json(rows) : table(rows, names.length > 1, out));
      return EXIT.ok;
    });
  },
});

interface Row {
  readonly platform: string;
  readonly region: Region;
}

function table(rows: readonly Row[], severalPlatforms: boolean, out: Output): string {
  if (rows.length === 0) return 'The platform lists no region.\n';
  const headers = ['name', 'alias', 'status', 'http domain', 'tcp domain'];
  const cells = rows.map(({ platform, region }) => [
    ...(severalPlatforms ? [platform] : []),
    region.name,
    region.alias,
    regionStatusWord(region.status),
    region.httpDomain ?? undefined,
    region.tcpDomain ?? undefined,
  ]);
  return renderTable(severalPlatforms ? ['platform', ...headers] : headers, cells, out);
}

function json(rows: readonly Row[]): string {
  const records = rows.map(({ platform, region }) => ({
    platform,
    ...region,
    statusWord: regionStatusWord(region.status),
    takesChanges: takesChanges(region.status),
  }));
  return `${JSON.stringify(records, null, 2)}\n`;
}
