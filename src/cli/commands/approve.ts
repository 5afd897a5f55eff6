import { InvalidArgumentError } from '@commander-js/extra-typings';
import { PortolanError } from '../../model/errors.ts';
import type { ResourceId } from '../../model/ids.ts';
import { renderPlanText } from '../../report/text.ts';
import { applicationOf, presentPlan } from '../server/applications.ts';
import { openServer, type ServerClient } from '../server/client.ts';
import { addServerOptions, applicationArgument } from '../server/options.ts';
import { defineCommand, type Surroundings } from '../session/command.ts';
import { EXIT, type ExitCode } from '../session/exit-codes.ts';
import { paintFor } from '../session/plan-view.ts';
import { confirm } from '../terminal/terminal.ts';

export const approveCommand = defineCommand({
  about:
    'Shows the plan of an application that a guard holds, asks for confirmation, and approves this plan and no other. A plan that differs in any way is held again. With a digest, the command approves the plan with that digest without a question. Needs a token with the role approve.',
  exitCodes: [EXIT.ok, EXIT.failed, EXIT.invalid, EXIT.held, EXIT.unreachable, EXIT.interrupted],
  seeAlso: ['plan', 'status', 'events'],
  examples: `
Examples:
  portolan status --server http://127.0.0.1:7780      # shows which plans are held
  portolan approve --server http://127.0.0.1:7780 shop
  portolan approve shop --expect 3f9a...              # in scripts: only the reviewed plan

The digest is the one that plan and status show for this application. The total digest of a plan of several applications
approves nothing.`,
  parameters: (command) =>
    addServerOptions(
      command
        .argument('<name>', 'the application', applicationArgument)
        .argument('[digest]', 'as --expect', digestArgument),
    )
      .option('--expect <digest>', 'approve the plan with this digest, without a question', digestArgument)
      .option('-y, --yes', 'do not ask for confirmation'),
  async run(surroundings, { expect, yes, ...flags }, [name, argument]) {
    const server = openServer(flags, surroundings);
    const digest = argument ?? expect ?? (await confirmedDigest(server, name, yes === true, surroundings));
    const { out, err } = surroundings.terminal;
    if (digest === undefined) {
      err.write('Nothing was approved.\n');
      return EXIT.ok satisfies ExitCode;
    }
    await server.post(`applications/${encodeURIComponent(name)}/approve`, 'id', { digest });
    out.write(`the plan ${digest} of Application/${name} is approved\n`);
    return EXIT.ok;
  },
});

/** @throws InvalidArgumentError for a text that the controller would not accept as a digest. */
function digestArgument(text: string): string {
  if (/^[0-9a-f]{8,128}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError(
    'Expected the digest that portolan status --server shows: 64 characters of 0-9 and a-f.',
  );
}

/** Shows the held plan and asks. Returns its digest; undefined: it was not confirmed. */
async function confirmedDigest(
  server: ServerClient,
  name: string,
  isAgreed: boolean,
  { terminal }: Surroundings,
): Promise<string | undefined> {
  const { id, approval } = await applicationOf(server, name);
  if (approval === null)
    throw new PortolanError({
      code: 'controller/nothing-to-approve',
      disposition: 'ask-human',
      message: `No plan of ${id} waits for an approval. Nothing was approved.`,
      remedy: 'Run portolan status: it shows the plans that wait for an approval, and each hold with its remedy.',
    });
  const plan = await presentPlan(server, name);
  terminal.out.write(renderPlanText(plan, paintFor(terminal.out)));
  if (plan.digest !== approval.digest) throw changedPlan(id, approval.digest, plan.digest);
  const question = `Approve the plan ${approval.digest.slice(0, 12)} of ${id}?`;
  if (isAgreed || (await confirm(terminal, question, '--yes, or --expect DIGEST,'))) return approval.digest;
  return undefined;
}

function changedPlan(id: ResourceId, held: string, now: string): PortolanError {
  return new PortolanError({
    code: 'controller/other-plan',
    disposition: 'ask-human',
    message: `The plan of ${id} has changed: the controller holds ${held}, and the present plan is ${now}. Nothing was approved.`,
    remedy: `Run portolan sync ${id.slice(id.indexOf('/') + 1)}, and then this command again.`,
  });
}
