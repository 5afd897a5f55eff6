import type { Whoami } from '../../server/routes/whoami.ts';
import { safeLine } from '../../model/text.ts';
import { openServer } from '../server/client.ts';
import { addServerOptions, applicationArgument } from '../server/options.ts';
import { defineCommand } from '../session/command.ts';
import { EXIT } from '../session/exit-codes.ts';
import { outputOption } from '../session/options.ts';
import { renderTable } from '../terminal/table.ts';
import { writeJson } from '../terminal/terminal.ts';

export const whoamiCommand = defineCommand({
  about:
    'Shows the name of the token at a running controller, its roles, and the applications that each role covers. With --application, it shows the permissions for that application.',
  exitCodes: [EXIT.ok, EXIT.invalid, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['config', 'status'],
  examples: `
Examples:
  portolan whoami --server http://127.0.0.1:7780
  portolan whoami --application shop
  portolan whoami -o json | jq -r '.roles[].role'

The operator binds roles in spec.server.tokens and spec.server.roles of Settings (portolan explain Settings.server.roles).`,
  parameters: (command) =>
    addServerOptions(command)
      .option('--application <name>', 'show the permissions for this application', applicationArgument)
      .addOption(outputOption(['text', 'json'])),
  async run(surroundings, { output, application, ...flags }) {
    const { terminal } = surroundings;
    const server = openServer(flags, surroundings);
    const whoami = (await server.get('whoami', 'roles', { application })) as Whoami;
    if (output === 'json') writeJson(whoami, terminal);
    else
      terminal.out.write(
        text(whoami, application, (rows) => renderTable(['role', 'applications'], rows, terminal.out)),
      );
  },
});

function text(
  { name, via, groups, roles, permissions }: Whoami,
  application: string | undefined,
  table: (rows: readonly (readonly string[])[]) => string,
): string {
  const rows = roles.map(({ role, applications }) => [role, applications?.map(safeLine).join(' ') ?? 'everything']);
  const lines = [
    `${via === 'token' ? 'token' : 'user'} ${safeLine(name)}`,
    ...(groups.length === 0 ? [] : [`groups ${groups.map(safeLine).join(', ')}`]),
    ...(application === undefined
      ? []
      : [`permissions for Application/${safeLine(application)}: ${permissions.join(', ') || 'none'}`]),
  ];
  return `${lines.join('\n')}\n\n${rows.length === 0 ? 'no roles\n' : table(rows)}`;
}
